//! How an audit log differs from its anchors.

use crate::timestamp::Timestamp;

/// How an audit log differs from what was anchored of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorFault {
    /// Entries that were anchored are missing at the end, because it was cut back or begun again.
    #[error("entries are missing: it has {entries}, and had {anchored} at {at}")]
    Cut {
        /// The entries that it has.
        entries: u64,
        /// The entries that it had.
        anchored: u64,
        /// When they were anchored.
        at: Timestamp,
    },
    /// It begins as it was anchored, and goes on in another way.
    #[error("it is another one after entry {agreed}: entry {anchored} is not the one of {at}")]
    Forked {
        /// The last entry that was anchored and is there.
        agreed: u64,
        /// The first entry that was anchored and is another one.
        anchored: u64,
        /// When it was anchored.
        at: Timestamp,
    },
    /// Nothing of what was anchored is there.
    #[error("it was replaced: entry {anchored} is not the one of {at}, and nothing before it is known to agree")]
    Replaced {
        /// The entries that it had.
        anchored: u64,
        /// When they were anchored.
        at: Timestamp,
    },
}
