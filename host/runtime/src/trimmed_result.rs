//! The trimmed form of a result.

/// A result of a conversation that is to be replaced, and its trimmed form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrimmedResult {
    /// The id of the call, as in [`Reply::id`](crate::Reply).
    pub call: String,
    /// The full name of the tool.
    pub tool: String,
    /// The text that replaces the result: its title, and how to read it again.
    pub text: String,
}
