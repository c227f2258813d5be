//! Limits on what the parser reads. It trusts its input more than a reviewer may.

use brush_parser::Token;

/// Maximum depth of groups, loops and conditions. The parser needs time and stack for each level.
const DEPTH_MAX: usize = 24;

/// Maximum depth of `case`. The parser tries the last branch of each more than once.
const CASE_DEPTH_MAX: usize = 6;

/// Maximum number of digits of a number that the parser converts without a check.
const DIGITS_MAX: usize = 9;

/// Returns why the parser must not see the text.
pub(super) fn text_problem(text: &str) -> Option<&'static str> {
    // `~+N` and `~-N` are entries of the stack of directories.
    let has_large_tilde = text.match_indices('~').any(|(index, _)| {
        let digits = text[index + 1..].trim_start_matches(['+', '-']);
        digits.bytes().take_while(u8::is_ascii_digit).count() > DIGITS_MAX
    });
    has_large_tilde.then_some("a number after `~` is too large")
}

/// Returns why the parser must not see the tokens.
pub(super) fn token_problem(tokens: &[Token]) -> Option<&'static str> {
    if !is_in_order(tokens) {
        return Some("a substitution is on the line of a here-document");
    }
    let (mut depth, mut case_depth) = (0_usize, 0_usize);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Operator(operator, _) if operator == "(" => depth += 1,
            Token::Operator(operator, _) if operator == ")" => depth = depth.saturating_sub(1),
            Token::Operator(..) => {}
            Token::Word(word, _) => match word.as_str() {
                "{" | "if" | "do" => depth += 1,
                "case" => (depth, case_depth) = (depth + 1, case_depth + 1),
                "}" | "fi" | "done" => depth = depth.saturating_sub(1),
                "esac" => (depth, case_depth) = (depth.saturating_sub(1), case_depth.saturating_sub(1)),
                word if is_large_descriptor(word, tokens.get(index + 1)) => {
                    return Some("the number of a redirection is too large");
                }
                _ => {}
            },
        }
        if depth > DEPTH_MAX || case_depth > CASE_DEPTH_MAX {
            return Some("it is nested too deeply");
        }
    }
    None
}

/// Returns whether the tokens have the order of the text. Those of a here-document come before the rest of its line.
fn is_in_order(tokens: &[Token]) -> bool {
    let (mut index, mut end) = (0, 0);
    while let Some(token) = tokens.get(index) {
        let span = token.location();
        if span.start.index < end || span.end.index < span.start.index {
            return false;
        }
        end = span.end.index;
        let is_here_document = matches!(token, Token::Operator(operator, _) if operator == "<<" || operator == "<<-");
        index += 1;
        if is_here_document {
            // The delimiter, and without a check the text and its last line.
            match tokens.get(index) {
                Some(delimiter) if delimiter.location().start.index >= end => end = delimiter.location().end.index,
                _ => return false,
            }
            index += 3;
        }
    }
    true
}

fn is_large_descriptor(word: &str, next: Option<&Token>) -> bool {
    let is_redirection = matches!(next, Some(Token::Operator(operator, _)) if operator.starts_with(['<', '>']));
    is_redirection && word.bytes().all(|byte| byte.is_ascii_digit()) && !(1..=DIGITS_MAX).contains(&word.len())
}
