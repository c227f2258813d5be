//! Selects the part of a long text that one answer shows.

/// A part may end early, to end with a line, by up to one in this many of its bytes.
const SLACK: usize = 8;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Window<'a> {
    pub(crate) text: &'a str,
    /// The number of characters of the whole text.
    pub(crate) characters: usize,
    /// The start of the next part; `None` at the end.
    pub(crate) next: Option<usize>,
}

/// Returns the part of a text from a character on, within a maximum of characters and of bytes. If there is more text,
/// the part ends with a paragraph or a line if one ends nearby.
pub(crate) fn window(text: &str, start: usize, characters_max: usize, bytes_max: usize) -> Window<'_> {
    let characters = text.chars().count();
    let from = offset(text, start);
    let mut end = offset(&text[from..], characters_max);
    end = text[from..].floor_char_boundary(end.min(bytes_max));
    let mut part = &text[from..from + end];
    if from + end < text.len() {
        let nearest = part.len() - part.len() / SLACK;
        let paragraph = part.rfind("\n\n").map(|at| at + 2);
        let line = part.rfind('\n').map(|at| at + 1);
        if let Some(end) = [paragraph, line].into_iter().flatten().find(|end| *end >= nearest) {
            part = &part[..end];
        }
    }
    let shown = start.min(characters) + part.chars().count();
    Window { text: part, characters, next: (shown < characters).then_some(shown) }
}

/// Returns the byte offset of a character, or the end if there are fewer.
fn offset(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, start: usize, characters: usize) -> (&str, Option<usize>) {
        let window = window(text, start, characters, 1_000);
        (window.text, window.next)
    }

    #[test]
    fn parts_follow_each_other_without_gap() {
        let text: String = (0..200).map(|number| format!("Zeile {number} äöü\n")).collect();
        for size in [1, 2, 17, 100, 999, 100_000] {
            let mut joined = String::new();
            let mut start = Some(0);
            while let Some(from) = start {
                let part = window(&text, from, size, 300);
                joined.push_str(part.text);
                assert!(part.text.chars().count() <= size && part.text.len() <= 300);
                start = part.next;
            }
            assert_eq!(joined, text, "{size}");
        }
    }

    #[test]
    fn a_part_ends_with_a_line_if_one_ends_nearby() {
        assert_eq!(shown("aaaaaaaaaaaaaaaaa\nbbbb", 0, 20), ("aaaaaaaaaaaaaaaaa\n", Some(18)));
        assert_eq!(shown("a\nbbbbbbbbbbbbbbbbbbbbbbb", 0, 20), ("a\nbbbbbbbbbbbbbbbbbb", Some(20)));
        assert_eq!(shown("ab", 0, 20), ("ab", None));
        assert_eq!(shown("ab", 2, 20), ("", None));
        assert_eq!(shown("ab", 9, 20), ("", None));
    }
}
