//! Checks the English of texts: words that the style guide replaces by the field's terms, and the length of sentences
//! in the documents.

/// Words that a text of this project does not use, each with what to write. Identifiers are not words.
const REPLACED_WORDS: [(&str, &str); 14] = [
    ("at the most", "at most"),
    ("comes to nothing", "what happens"),
    ("for ever", "without end, or until what"),
    ("has gone away", "has disconnected, or has ended"),
    ("is told of", "what is reported, and to which of client, user or model"),
    ("let go of", "drop, or release"),
    ("nobody", "who does it: no approver, no client, no caller"),
    ("none of the answers", "what to type"),
    ("of its own accord", "by itself"),
    ("speaks of", "matches, or names"),
    ("tells of", "reports"),
    ("what is told", "what is reported"),
    ("whoever", "who it is: the caller, the approver, the client, the user"),
    ("whosoever", "who it is"),
];

/// Maximum words of one sentence in a document.
const SENTENCE_WORDS_MAX: usize = 25;

/// Returns the lines of a text with words to replace, each with what is wrong.
pub(crate) fn replaced_words(text: &str) -> impl Iterator<Item = (usize, String)> {
    text.lines().enumerate().flat_map(|(number, line)| {
        let line = line.to_lowercase();
        let found = REPLACED_WORDS.iter().filter(move |(word, _)| contains_word(&line, word));
        found.map(move |(word, instead)| (number, format!("\"{word}\": write {instead}")))
    })
}

/// Returns the sentences of a Markdown document that are too long, each with the line on which its paragraph begins.
pub(crate) fn long_sentences(document: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, paragraph) in paragraphs(document) {
        for sentence in sentences(&paragraph) {
            let words = sentence.iter().filter(|word| word.contains(char::is_alphanumeric)).count();
            if words > SENTENCE_WORDS_MAX {
                let beginning = sentence.iter().take(6).copied().collect::<Vec<_>>().join(" ");
                found.push((line, format!("{words} words in a sentence, at most {SENTENCE_WORDS_MAX}: {beginning}…")));
            }
        }
    }
    found
}

/// Whether a line in lower case contains a word that is no part of a longer word or identifier.
fn contains_word(line: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(word).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        // A member of a package, such as `http.NoBody`, follows its dot without a space. A whole literal, or one of
        // several in a table, is the value of a flag or a field.
        let is_literal = before.ends_with(['"', '`']) && after.starts_with(['"', '`']);
        let is_choice = after.starts_with("\\|");
        !before.ends_with(joins) && !before.ends_with('.') && !after.starts_with(joins) && !is_literal && !is_choice
    })
}

/// Returns the paragraphs and list items of a document, each with its first line. Code blocks, tables, headings and
/// HTML have no sentences.
fn paragraphs(document: &str) -> Vec<(usize, String)> {
    let (mut found, mut fenced) = (Vec::<(usize, String)>::new(), false);
    let mut is_open = false;
    for (number, line) in document.lines().enumerate() {
        let text = line.trim_start();
        let fence = text.starts_with("```");
        fenced ^= fence;
        if fenced || fence || text.is_empty() || text.starts_with(['|', '#', '<']) {
            is_open = false;
            continue;
        }
        let item = list_item(text);
        match found.last_mut().filter(|_| is_open && item.is_none()) {
            Some((_, paragraph)) => {
                paragraph.push(' ');
                paragraph.push_str(text);
            }
            None => found.push((number, item.unwrap_or(text).to_owned())),
        }
        is_open = true;
    }
    found
}

/// Returns the text of a list item, without its bullet or number.
fn list_item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let bullet = ["- ", "* "].iter().find_map(|bullet| line.strip_prefix(bullet));
    bullet.or_else(|| numbered.strip_prefix(". ").filter(|_| numbered.len() < line.len()))
}

/// Splits a paragraph into sentences of words. Code in backticks is one word, and the target of a link none.
fn sentences(paragraph: &str) -> Vec<Vec<&str>> {
    let (mut found, mut sentence) = (Vec::new(), Vec::new());
    let (mut in_code, mut in_target) = (false, false);
    for word in paragraph.split_whitespace() {
        if !in_code && !in_target {
            sentence.push(word);
        }
        in_code ^= word.matches('`').count() % 2 == 1;
        if word.contains("](") || in_target {
            in_target = !word.contains(')');
        }
        let bare = word.trim_end_matches(['"', '\'', ')', '*', '_', '`']);
        if !in_code && !in_target && bare.ends_with(['.', '!', '?']) {
            found.push(std::mem::take(&mut sentence));
        }
    }
    found.push(sentence);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_word_is_found_and_an_identifier_is_not() {
        let lines = |text| replaced_words(text).map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!(lines("// The call runs.\n// Whoever calls it waits.\n"), [1]);
        assert_eq!(
            lines("let nobody_waits = 1;\n\"nobody-else\"\n\"nobody\"\n`--who nobody\\|all`"),
            Vec::<usize>::new()
        );
        assert_eq!(lines("\"nobody answers\"\n"), [0]);
    }

    #[test]
    fn a_long_sentence_is_found_where_its_paragraph_begins() {
        let long = "word ".repeat(SENTENCE_WORDS_MAX);
        let document =
            format!("# {long} title\n\nShort. The {long}\nends here.\n\n- {long}.\n\n```\n{long} {long}\n```\n");
        let found = long_sentences(&document);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, 2);
    }

    #[test]
    fn code_is_one_word_and_a_sentence_ends_within_quotes() {
        let words = |text| sentences(text).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(words("Run `a b c d` now. It \"ends.\" Then go"), [3, 2, 2]);
    }
}
