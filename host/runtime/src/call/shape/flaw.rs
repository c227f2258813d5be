//! Why an answer is not usable.

/// Why an answer is not usable.
#[derive(Debug)]
pub(crate) enum Flaw<'a> {
    /// It is not what it has to be, in these words.
    Broken(String),
    /// Reading its JSON would take too much memory.
    Memory(String),
    /// This JSON of a promised form does not fit: a part of it would not have the form.
    TooLarge(&'a str),
}

pub(super) fn broken(why: impl Into<String>) -> Flaw<'static> {
    Flaw::Broken(why.into())
}
