//! Converts documentation to plain text, as in a tool's description.

use portcullis::text::is_deceptive;
use std::fmt::Write;

/// Block elements.
const BLOCKS: [&str; 17] = [
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "fullname",
    "h1",
    "h2",
    "h3",
    "h4",
    "important",
    "li",
    "note",
    "ol",
    "p",
    "ul",
    "pre",
];

/// The named character references that this package uses.
const NAMED: [(&str, char); 6] = [("amp", '&'), ("gt", '>'), ("lt", '<'), ("quot", '"'), ("apos", '\''), ("nbsp", ' ')];

/// Returns the text of HTML, up to a number of bytes. It is cut after a sentence if that keeps half of it, or after a
/// word.
pub(super) fn plain(html: &str, bytes_max: usize) -> String {
    let mut text = Text::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push(&rest[..at]);
        match rest[at..].split_once('>') {
            Some((tag, after)) if is_tag(tag) => {
                text.pass(tag);
                rest = after;
            }
            _ => {
                text.push("<");
                rest = &rest[at + 1..];
            }
        }
    }
    text.push(rest);
    cut(&text.written, bytes_max).to_owned()
}

/// Returns whether this text, up to its `>`, is a tag or a comment and not a less-than sign.
fn is_tag(tag: &str) -> bool {
    let name = tag[1..].trim_start_matches('/');
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '!') && !name.contains('<')
}

/// Collects text with normalized white space.
#[derive(Default)]
struct Text {
    written: String,
    /// The separator before the next word, unless the text is empty.
    gap: &'static str,
    /// Whether the next word starts an item of a list.
    item: bool,
}

impl Text {
    fn pass(&mut self, tag: &str) {
        let name = tag[1..].trim_start_matches('/');
        let name = name.split(|character: char| !character.is_ascii_alphanumeric()).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if BLOCKS.contains(&name.as_str()) {
            self.gap = "\n";
        }
        if tag.starts_with("<li") || tag.starts_with("<LI") {
            self.item = true;
        }
    }

    fn push(&mut self, html: &str) {
        for character in
            decoded(html).chars().filter(|character| character.is_whitespace() || !is_deceptive(*character))
        {
            match character.is_whitespace() {
                true if self.gap.is_empty() => self.gap = " ",
                true => {}
                false => self.put(character),
            }
        }
    }

    fn put(&mut self, character: char) {
        let gap = std::mem::take(&mut self.gap);
        if !self.written.is_empty() {
            self.written.push_str(gap);
        }
        if std::mem::take(&mut self.item) {
            self.written.push_str("- ");
        }
        self.written.push(character);
    }
}

/// Decodes character references.
fn decoded(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        let character = rest[at + 1..].split_once(';').and_then(|(name, after)| Some((character(name)?, after)));
        let (character, after) = character.unwrap_or(('&', &rest[at + 1..]));
        let _ = text.write_char(character);
        rest = after;
    }
    text.push_str(rest);
    text
}

fn character(name: &str) -> Option<char> {
    let named = NAMED.iter().find(|(known, _)| *known == name).map(|(_, character)| *character);
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    named.or_else(|| number.and_then(char::from_u32))
}

fn cut(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let text = &text[..text.floor_char_boundary(bytes_max)];
    let sentence = text.rfind(". ").map(|at| at + 1).max(text.rfind('\n'));
    let end = sentence.filter(|end| *end >= bytes_max / 2).or_else(|| text.rfind(' '));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_removed_and_lines_and_items_are_kept() {
        let html = "<p>Adds a <a href=\"x?a&lt;b\">rule</a>\n to  it.</p> <ul> <li> <p>One &amp; &#50;</p> </li> <li>3 < 4</li> </ul>";
        assert_eq!(plain(html, 100), "Adds a rule to it.\n- One & 2\n- 3 < 4");
    }

    #[test]
    fn a_long_text_ends_with_a_sentence_or_a_word() {
        assert_eq!(plain("<p>First one. Second one.</p>", 20), "First one.");
        assert_eq!(plain("One. Several words here", 20), "One. Several words");
    }

    #[test]
    fn invisible_content_is_removed() {
        assert_eq!(plain("a\u{200b}b&#8203;c", 100), "abc");
    }
}
