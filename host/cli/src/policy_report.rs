//! Shows the errors of a policy in the style of rustc: the line, what is wrong in it, and what was probably meant.
//!
//! All text from the policy is encoded before the renderer sees it. A line that may contain a secret is not shown.

use crate::environment::open_named;
use crate::style::Style;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use portcullis::OpenError;
use portcullis::policy::{POLICY_BYTES, PolicyError, PolicyFault};
use portcullis::policy_files::PolicyReadError;
use portcullis::text::{Lines, OneLine};
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// A line of a policy whose text is encoded, with the place of an error in it.
struct ReportedLine {
    text: String,
    span: Range<usize>,
}

/// Returns the report for an error, if it is an error of a policy file.
pub(crate) fn of_error(error: &anyhow::Error, style: Style) -> Option<String> {
    let refused = error.chain().find_map(|cause| {
        let read = cause.downcast_ref::<PolicyReadError>();
        read.or_else(|| match cause.downcast_ref::<OpenError>() {
            Some(OpenError::Policy(read)) => Some(read),
            Some(_) | None => None,
        })
    })?;
    let PolicyReadError::Policy { path, error } = refused else { return None };
    let mut text = String::new();
    // If the file changed since, the report has no excerpts.
    let _ = open_named(path).and_then(|file| file.take(POLICY_BYTES as u64).read_to_string(&mut text));
    Some(report(path, &text, error, style))
}

/// Returns the report for all errors of a text.
pub(crate) fn report(path: &Path, text: &str, error: &PolicyError, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let path = OneLine(&path.to_string_lossy()).to_string();
    let (mut reports, mut errors) = (String::new(), 0);
    for error in error.all() {
        reports.push_str(&one(&path, text, error, &renderer));
        reports.push_str("\n\n");
        errors += 1;
    }
    let count = if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") };
    reports + &format!("the policy {path} is not used, because it has {count}\n")
}

fn one(path: &str, text: &str, error: &PolicyError, renderer: &Renderer) -> String {
    let key = if error.key.is_empty() { String::new() } else { format!("`{}`: ", error.key) };
    let title = OneLine(&format!("{key}{}", error.fault)).to_string();
    let remedy = OneLine(&error.remedy()).to_string();
    let help = match error.suggestion() {
        Some(word) => format!("did you mean `{}`? Otherwise, {remedy}", OneLine(word)),
        None => remedy,
    };
    let title = Level::ERROR.primary_title(title);
    let report = match line(text, error) {
        Some(line) => {
            let label = error.suggestion().map(|word| format!("did you mean `{}`?", OneLine(word)));
            let annotation = AnnotationKind::Primary.span(line.span).label(label);
            let snippet = Snippet::source(line.text).line_start(error.line).path(path).annotation(annotation);
            title.element(snippet).element(Level::HELP.message(help))
        }
        None => {
            let place = format!("{path}:{}:{}", error.line, error.column);
            title.element(Level::NOTE.message(place)).element(Level::HELP.message(help))
        }
    };
    renderer.render(&[report])
}

/// Returns the line of an error. None if it may contain a secret, or if the text is not the one with the error.
fn line(text: &str, error: &PolicyError) -> Option<ReportedLine> {
    let written = text.split('\n').nth(error.line.checked_sub(1)?)?;
    let written = written.strip_suffix('\r').unwrap_or(written);
    if may_show_secret(text, written, error) {
        return None;
    }
    let before: usize = text.split_inclusive('\n').take(error.line - 1).map(str::len).sum();
    // An error may end in a later line, which is not shown.
    let place = |at: usize| at.saturating_sub(before).min(written.len());
    let wrong = error.span();
    let start = if wrong.is_empty() { column(written, error.column) } else { place(wrong.start) };
    let end = place(wrong.end).max(start);
    let (head, body, tail) = (written.get(..start)?, written.get(start..end)?, written.get(end..)?);
    let [head, body, tail] = [head, body, tail].map(|part| Lines(part).to_string());
    let span = head.len()..head.len() + body.len().max(1);
    // An error at the end of the line needs a character to point at.
    let end = if body.is_empty() && tail.is_empty() { " " } else { "" };
    Some(ReportedLine { text: format!("{head}{body}{tail}{end}"), span })
}

/// Returns the byte of a column, which counts characters from 1.
fn column(line: &str, column: usize) -> usize {
    line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at)
}

/// Returns whether the line may contain a secret, which someone may have written in place of its source.
fn may_show_secret(text: &str, line: &str, error: &PolicyError) -> bool {
    let in_secret = error.key.split('.').any(|key| key == "secret") || line.contains("secret");
    let header = || {
        let lines: Vec<&str> = text.lines().take(error.line).collect();
        lines.iter().rev().find(|line| line.trim_start().starts_with('[')).is_some_and(|line| line.contains("secret"))
    };
    // After a syntax error, it is not known which key the line belongs to.
    in_secret || matches!(error.fault, PolicyFault::Syntax { .. }) && (line.contains("from") || header())
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis::policy::Policy;

    fn plain(text: &str) -> String {
        report(Path::new("policy.toml"), text, &Policy::parse(text).unwrap_err(), Style::Plain)
    }

    #[test]
    fn every_error_has_its_line_its_caret_and_what_was_meant() {
        let text = "[limit]\ntime = \"5 s\"\n\n[[rule]]\ntool = \"files.read\"\ndecision = \"alow\"\n";
        let shown = plain(text);
        let expected =
            "error: `limit`: unknown key\n --> policy.toml:1:2\n  |\n1 | [limit]\n  |  ^^^^^ did you mean `limits`?\n";
        assert!(shown.starts_with(expected), "{shown}");
        assert!(shown.contains("6 | decision = \"alow\""), "{shown}");
        assert!(shown.contains("^^^^^^ did you mean `allow`?"), "{shown}");
        assert!(shown.ends_with("the policy policy.toml is not used, because it has 2 errors\n"), "{shown}");
    }

    #[test]
    fn control_characters_of_the_policy_are_escaped() {
        let shown = plain("# x\n\"a\\u001b[2J\" = 1 # \u{9b}31m\u{202e}\n");
        assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{shown:?}");
    }

    #[test]
    fn a_line_that_may_contain_a_secret_is_not_shown() {
        let of = |line: &str| format!("[plugin.web.http.api]\nhosts = [\"a.example\"]\n{line}\n");
        let hidden = [
            of("secret = { query = \"k\", from = \"hunter2\" }"),
            of("[plugin.web.http.api.secret]\nquery = \"k\"\nfrom = \"hunter2\""),
            of("[plugin.web.http.api.secret]\nquery = \"hunter2"),
            of("secret = { from = \"hunter2"),
        ];
        for text in hidden {
            let shown = plain(&text);
            assert!(!shown.contains("hunter2") && shown.contains("policy.toml:"), "{shown}");
        }
    }
}
