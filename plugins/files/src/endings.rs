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

    /// Returns how the file may spell a model's text, each with the matching spelling of the replacement.
    pub(crate) fn spell(self, old: &str, new: &str) -> Vec<(String, String)> {
        let lf = || (to_lf(old).into_owned(), to_lf(new).into_owned());
        let crlf = || (to_crlf(old), to_crlf(new));
        match self {
            Self::Lf => vec![lf()],
            Self::Crlf => vec![crlf()],
            // Without a line break, both spellings find the same text. Only the line breaks of `new` differ.
            Self::Mixed { mostly_crlf } if !old.contains('\n') => vec![if mostly_crlf { crlf() } else { lf() }],
            Self::Mixed { .. } => vec![lf(), crlf()],
        }
    }
}

pub(crate) fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

fn to_crlf(text: &str) -> String {
    to_lf(text).replace('\n', "\r\n")
}
