//! Line endings. A model writes `\n`; the file keeps its own.

use std::borrow::Cow;

/// The line endings of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endings {
    Lf,
    Crlf,
    /// Both occur. New lines get the more frequent one, or LF on a tie.
    Mixed {
        mostly_crlf: bool,
    },
}

impl Endings {
    pub(crate) fn of(text: &str) -> Self {
        let crlf = text.matches("\r\n").count();
        let lf = text.matches('\n').count() - crlf;
        match (lf, crlf) {
            (_, 0) => Self::Lf,
            (0, _) => Self::Crlf,
            _ => Self::Mixed { mostly_crlf: crlf > lf },
        }
    }

    /// Returns the line ending of a new line.
    pub(crate) fn most_frequent(self) -> &'static str {
        match self {
            Self::Lf | Self::Mixed { mostly_crlf: false } => "\n",
            Self::Crlf | Self::Mixed { mostly_crlf: true } => "\r\n",
        }
    }

    /// Returns a text with the line ending of a new line.
    pub(crate) fn spell(self, text: &str) -> String {
        to_lf(text).replace('\n', self.most_frequent())
    }
}

pub(crate) fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}
