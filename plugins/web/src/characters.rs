//! Invisible characters. They hide text from people, or change the order in which text is displayed.

/// Returns whether a character is invisible, or changes how others are shown.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen, joiners, fillers and marks without a shape.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        // Bidirectional controls, and invisible joiners.
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        // Variation selectors and tags, which can encode hidden text; private use, which needs a font of the page.
        | '\u{fe00}'..='\u{fe0f}' | '\u{e000}'..='\u{f8ff}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}'
    )
}

/// Removes invisible characters, and turns line endings into line feeds.
///
/// Keeps a joiner between two letters of a script that needs it.
pub(crate) fn visible(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    kept.push('\n');
                }
            }
            '\u{2028}' | '\u{2029}' => kept.push('\n'),
            '\u{200c}' | '\u{200d}' => {
                // The scripts before Arabic, such as Latin, need no joiner between letters. There it can only hide
                // something.
                let joins = |neighbour: Option<char>| {
                    neighbour.is_some_and(|neighbour| neighbour > '\u{5ff}' && !is_invisible(neighbour))
                };
                if joins(kept.chars().next_back()) && joins(characters.peek().copied()) {
                    kept.push(character);
                }
            }
            _ if is_invisible(character) => {}
            _ => kept.push(character),
        }
    }
    kept
}

/// Escapes the invisible characters of a JSON document. The document stays equivalent, with nothing hidden in it.
pub(crate) fn escaped(json: &str) -> String {
    use std::fmt::Write as _;
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if !is_invisible(character) {
            shown.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}
