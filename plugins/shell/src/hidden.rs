//! Characters that hide text from a reader.

/// Returns whether a character is invisible, or changes the order in which others are shown. Tabs and line feeds are
/// visible enough.
pub(crate) fn is_hidden(character: char) -> bool {
    matches!(character,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen, joiners, fillers and marks without a shape.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        // Line separators, bidirectional controls, and invisible operators.
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        // Variation selectors and tags, which can encode hidden text; private use, which has no shape of its own.
        | '\u{fe00}'..='\u{fe0f}' | '\u{e000}'..='\u{f8ff}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}'
    )
}

/// Returns where the first hidden character of a text is, and which it is, such as `U+202E at character 14`.
pub(crate) fn first(text: &str) -> Option<String> {
    let hidden = (1..).zip(text.chars()).find(|(_, character)| is_hidden(*character));
    hidden.map(|(number, character)| format!("U+{:04X} at character {number}", u32::from(character)))
}
