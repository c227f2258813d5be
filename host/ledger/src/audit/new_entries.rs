//! Entries that are ready to be appended together.

use super::error::AuditError;
use super::line::{Kind, LineMembers};
use serde::Serialize;

/// An entry that is ready to be appended. Its sequence number, its time and its MAC follow when it is.
#[derive(Clone)]
pub struct PreparedEntry {
    pub(super) kind: Kind,
    pub(super) members: LineMembers,
}

/// An entry, and possibly one that goes before it in the same write.
pub(super) struct NewEntries {
    pub(super) first: Option<PreparedEntry>,
    pub(super) last: PreparedEntry,
}

impl PreparedEntry {
    /// Serializes an entry: the members of `facts`, then those of `body`.
    ///
    /// # Errors
    /// The entry cannot be serialized, or is too long.
    pub fn of(kind: Kind, facts: Option<&impl Serialize>, body: &impl Serialize) -> Result<Self, AuditError> {
        Ok(Self { kind, members: LineMembers::of(facts, body)? })
    }
}

impl NewEntries {
    /// Returns the entries in the order in which they are written.
    pub(super) fn iter(&self) -> impl Iterator<Item = &PreparedEntry> {
        self.first.iter().chain([&self.last])
    }

    /// Returns the length of the members in bytes.
    pub(super) fn len(&self) -> usize {
        self.iter().map(|entry| entry.members.len()).sum()
    }
}

impl From<PreparedEntry> for NewEntries {
    fn from(last: PreparedEntry) -> Self {
        Self { first: None, last }
    }
}
