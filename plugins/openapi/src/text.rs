//! Texts of the document, made fit for a definition. A host refuses a plugin for one invisible character.

/// Maximum combining marks on one character, as in a host.
const MARKS_MAX: usize = 4;

/// Returns a text without invisible and control characters, cut to a number of bytes. Line feeds stay.
pub(crate) fn paragraph(text: &str, bytes_max: usize) -> String {
    cut(&without_hidden(text.chars(), |character| character == '\n'), bytes_max)
}

/// Returns a text as one line, cut to a number of bytes.
pub(crate) fn line(text: &str, bytes_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&without_hidden(words.join(" ").chars(), |_| false), bytes_max)
}

/// Returns the first character that a definition cannot contain in a name or a value.
pub(crate) fn hidden(text: &str) -> Option<char> {
    let mut marks = 0;
    text.chars().find(|character| {
        marks = if is_mark(*character) { marks + 1 } else { 0 };
        is_hidden(*character) || marks > MARKS_MAX
    })
}

fn without_hidden(characters: impl Iterator<Item = char>, is_kept: impl Fn(char) -> bool) -> String {
    let mut marks = 0;
    let mut is_shown = |character: &char| {
        marks = if is_mark(*character) { marks + 1 } else { 0 };
        is_kept(*character) || (!is_hidden(*character) && marks <= MARKS_MAX)
    };
    characters.filter(|character| is_shown(character)).collect()
}

fn cut(text: &str, bytes_max: usize) -> String {
    const ELLIPSIS: &str = "…";
    let text = text.trim();
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes_max.saturating_sub(ELLIPSIS.len()));
    format!("{}{ELLIPSIS}", text.get(..end).unwrap_or_default())
}

/// Returns whether a host refuses a character, because it is invisible or changes how others are shown.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{10ffff}')
}

/// Returns whether a character extends the one before it. The standard library has the property only inside of
/// `escape_debug`, which escapes such characters.
fn is_mark(character: char) -> bool {
    !character.is_ascii() && character.escape_debug().len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_removed_and_length_is_bounded() {
        assert_eq!(line("a\u{202e}b\n c\u{0}", 100), "ab c");
        assert_eq!(paragraph("a\nb\u{200b}\r", 100), "a\nb");
        assert_eq!(paragraph("ééééé", 8), "éé…");
        assert_eq!((hidden("plain é 日本"), hidden("a\nb"), hidden("\u{fe0f}")), (None, Some('\n'), None));
    }

    #[test]
    fn what_is_hidden_is_what_a_host_refuses() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            assert_eq!(is_hidden(character), portcullis_definitions::text::is_deceptive(character), "{character:?}");
        }
    }

    #[test]
    fn stacked_marks_are_limited() {
        let stack = |count| format!("a{}b", "\u{301}".repeat(count));
        assert_eq!(line(&stack(9), 100), stack(MARKS_MAX));
        assert_eq!((hidden(&stack(MARKS_MAX)), hidden(&stack(MARKS_MAX + 1))), (None, Some('\u{301}')));
        assert_eq!(line("नमस्ते ไม่ที่", 100), "नमस्ते ไม่ที่");
    }
}
