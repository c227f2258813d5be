//! What a page tells its reader once, after an action.

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) kind: NoticeKind,
    /// The text. It is escaped where it is shown.
    pub(crate) text: String,
}

/// Whether an action had an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    Done,
    Refused,
}

impl Notice {
    /// Creates a notice about an action that took effect.
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { kind: NoticeKind::Done, text: text.into() }
    }

    /// Creates a notice about an action that had no effect.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self { kind: NoticeKind::Refused, text: text.into() }
    }
}
