//! Defines what dropping the record of a call does.

use crate::reply::Outcome;

/// What dropping a record does.
pub(super) enum RecordEnding {
    /// The drop records the call as cancelled, and publishes that.
    Abandoned,
    /// The drop publishes this outcome, because its entry is already queued.
    Recorded(Outcome),
    /// The drop does nothing. Another record ends the call, or the call is only explained.
    Elsewhere,
}
