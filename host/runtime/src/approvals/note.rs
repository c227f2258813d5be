//! The note of an approver.

/// Maximum length of an approver's note, in bytes.
pub(crate) const NOTE_BYTES_MAX: usize = 1024;
