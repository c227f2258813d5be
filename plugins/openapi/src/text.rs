//! Texts of the document, made fit for a definition.

/// Returns a text without invisible and control characters, cut to a number of bytes. Line feeds stay.
pub(crate) fn paragraph(text: &str, bytes_max: usize) -> String {
    cut(&text.chars().filter(|character| *character == '\n' || !is_hidden(*character)).collect::<String>(), bytes_max)
}

/// Returns a text as one line, cut to a number of bytes.
pub(crate) fn line(text: &str, bytes_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&words.join(" ").chars().filter(|character| !is_hidden(*character)).collect::<String>(), bytes_max)
}

fn cut(text: &str, bytes_max: usize) -> String {
    const ELLIPSIS: &str = "…";
    let text = text.trim();
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let mut end = bytes_max.saturating_sub(ELLIPSIS.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ELLIPSIS}", text.get(..end).unwrap_or_default())
}

/// Returns whether a character is invisible, or changes how others are shown.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{e000}'..='\u{f8ff}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_removed_and_length_is_bounded() {
        assert_eq!(line("a\u{202e}b\n c\u{0}", 100), "ab c");
        assert_eq!(paragraph("a\nb\u{200b}", 100), "a\nb");
        assert_eq!(paragraph("ééééé", 8), "éé…");
    }
}
