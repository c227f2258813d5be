//! Documentation comments.

use crate::notation::shortened;

/// Maximum characters of a description. A longer one is not read.
const DESCRIPTION_CHARACTERS_MAX: usize = 2000;

/// Maximum characters of a line of a comment, without its indentation.
const LINE_CHARACTERS_MAX: usize = 110;

/// Returns the spaces of a level of indentation.
pub(super) fn indent(level: usize) -> String {
    "  ".repeat(level)
}

/// Writes a comment of paragraphs at a level of indentation, or nothing if there is no text.
pub(super) fn comment(paragraphs: &[String], level: usize) -> String {
    let lines: Vec<String> = paragraphs.iter().flat_map(|paragraph| lines(paragraph)).collect();
    let indent = indent(level);
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: String = lines.iter().map(|line| format!("{indent} * {line}\n")).collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

/// Breaks a text into lines that cannot end the comment.
fn lines(text: &str) -> Vec<String> {
    let text = shortened(text.trim(), DESCRIPTION_CHARACTERS_MAX).replace("*/", "*\\/");
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > LINE_CHARACTERS_MAX {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines
}
