//! Line ends. A model writes `\n`; what a file has stays in the file.

use std::borrow::Cow;

/// What ends the lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endings {
    Lf,
    Crlf,
    /// Both occur. The more frequent one, LF on a tie, ends new lines.
    Mixed {
        mostly_crlf: bool,
    },
}

impl Endings {
    pub(super) fn of(text: &str) -> Self {
        let crlf = text.matches("\r\n").count();
        let lf = text.matches('\n').count() - crlf;
        match (lf, crlf) {
            (_, 0) => Self::Lf,
            (0, _) => Self::Crlf,
            _ => Self::Mixed { mostly_crlf: crlf > lf },
        }
    }

    /// How a text of a model may be spelled in the file, and the spelling of what replaces it.
    pub(super) fn spell(self, old: &str, new: &str) -> Vec<(String, String)> {
        let lf = || (to_lf(old).into_owned(), to_lf(new).into_owned());
        let crlf = || (to_crlf(old), to_crlf(new));
        match self {
            Self::Lf => vec![lf()],
            Self::Crlf => vec![crlf()],
            Self::Mixed { mostly_crlf } if !old.contains('\n') => vec![if mostly_crlf { crlf() } else { lf() }],
            Self::Mixed { .. } => vec![lf(), crlf()],
        }
    }
}

pub(super) fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

fn to_crlf(text: &str) -> String {
    to_lf(text).replace('\n', "\r\n")
}
