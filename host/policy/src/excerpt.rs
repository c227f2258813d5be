//! The part of an untrusted text that a message may show: escaped and shortened.
//!
//! This file must not know where the text is from, or who reads the message.

use std::fmt::{self, Write};

/// Enough to recognize a mistyped word, and too little to imitate a message of the host.
const EXCERPT_CHARACTERS: usize = 80;

/// The start of a text in double quotes. Characters that move the cursor or are invisible are escaped.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    beginning: String,
    cut: bool,
}

impl Excerpt {
    /// Keeps as much of `text` as a message may show.
    pub(crate) fn of(text: &str) -> Self {
        let mut characters = text.chars();
        let beginning = characters.by_ref().take(EXCERPT_CHARACTERS).collect();
        Self { beginning, cut: characters.next().is_some() }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", self.beginning.escape_debug())?;
        if self.cut { formatter.write_char('…') } else { Ok(()) }
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_no_control_or_direction_character() {
        let shown = Excerpt::of("a\u{1b}[2J\r\n\u{202e}\u{200b}\0\"").to_string();
        assert_eq!(shown, r#""a\u{1b}[2J\r\n\u{202e}\u{200b}\0\"""#);
    }

    #[test]
    fn an_excerpt_of_a_long_text_ends_with_an_ellipsis() {
        let shown = Excerpt::of(&"é".repeat(10_000)).to_string();
        assert_eq!(shown, format!("\"{}\"…", "é".repeat(EXCERPT_CHARACTERS)));
    }
}
