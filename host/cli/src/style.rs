//! Colour, where it helps and only there. Colour never carries what the words do not.

use std::fmt::{self, Display};

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Strong,
    Quiet,
    Good,
    Doubtful,
    Bad,
}

/// Whether a stream takes colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Coloured,
}

/// Text with its look. The text is shown as it is: encode what is not the host's own.
pub(crate) struct Painted<T> {
    text: T,
    code: Option<&'static str>,
}

impl Style {
    /// Gives text a look.
    pub(crate) fn paint<T: Display>(self, look: Look, text: T) -> Painted<T> {
        let code = match self {
            Self::Plain => None,
            Self::Coloured => look.code(),
        };
        Painted { text, code }
    }
}

impl Look {
    /// The parameters of "select graphic rendition" (ECMA-48).
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
