//! What dropping the record of a call does.

use crate::reply::Outcome;

/// What dropping a record does.
pub(super) enum RecordEnding {
    /// Records the call as cancelled, and publishes that.
    Abandoned,
    /// Publishes this outcome, because its entry is on its way.
    Recorded(Outcome),
    /// Nothing. Another record ends the call, or it is only explained.
    Elsewhere,
}
