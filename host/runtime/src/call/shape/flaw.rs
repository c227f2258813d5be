//! The reasons why an answer is not usable.

/// The reason why an answer is not usable.
#[derive(Debug)]
pub(crate) enum AnswerFlaw<'a> {
    /// It breaks the contract or the definition, as this text says.
    Broken(String),
    /// Reading its JSON would take too much memory.
    Memory(String),
    /// This JSON is too large for the reply, and its beginning would not match the output schema.
    TooLarge(&'a str),
}

pub(super) fn broken(why: impl Into<String>) -> AnswerFlaw<'static> {
    AnswerFlaw::Broken(why.into())
}
