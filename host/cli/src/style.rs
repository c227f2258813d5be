//! Colour for terminals. Colour never carries information that the text does not.

use std::fmt::{self, Display};

/// The role of a piece of text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextStyle {
    Plain,
    Strong,
    Quiet,
    Good,
    Doubtful,
    Bad,
}

/// Whether a stream supports colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Coloured,
}

/// Text with its look. It is not encoded: encode text that is not the host's own first.
pub(crate) struct Painted<T> {
    text: T,
    code: Option<&'static str>,
}

impl Style {
    /// Applies a look to a text.
    pub(crate) fn paint<T: Display>(self, look: TextStyle, text: T) -> Painted<T> {
        let code = match self {
            Self::Plain => None,
            Self::Coloured => look.code(),
        };
        Painted { text, code }
    }
}

impl TextStyle {
    /// Returns the parameters of "select graphic rendition" (ECMA-48).
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Quiet => Some("2"),
            Self::Good => Some("32"),
            Self::Doubtful => Some("33"),
            Self::Bad => Some("31"),
        }
    }
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(formatter, "\x1b[{code}m{}\x1b[0m", self.text),
            None => self.text.fmt(formatter),
        }
    }
}
