//! The parts that the descriptions of all kinds of bindings are made of.
//!
//! The user decides by a description whether to trust a policy. So it names everything that is granted, and escapes
//! characters that are invisible.

use crate::pointer::Pointer;

/// Describes the argument that a call's handle is narrowed to.
pub(super) fn of_narrow(narrow: &Pointer) -> String {
    format!("narrowed to the argument {} of each call", plain(&narrow.to_string()))
}

/// Joins the items with spaces.
pub(super) fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(" ")
}

/// Returns the text unchanged if it is unambiguous, and otherwise escaped in quotes. It is never shortened.
pub(super) fn plain(text: &str) -> String {
    // The parts of a description are joined by commas, so a comma in a text would look like the next part.
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'`,\\".contains(&byte));
    if bare { text.to_owned() } else { format!("\"{}\"", text.escape_debug()) }
}
