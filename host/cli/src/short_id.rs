//! The beginning of an id, as people see and type it.

/// Digits that are shown. They distinguish the calls, requests and approvals of one state directory, and every command
/// that takes an id accepts them.
const ID_DIGITS: usize = 8;

/// Returns the first digits of an id.
pub(crate) fn short_id(id: &str) -> &str {
    id.get(..ID_DIGITS).unwrap_or(id)
}
