//! Defines what dropping the record of a call does.

use crate::reply::Code;

/// What dropping a record does.
pub(super) enum RecordEnding {
    /// The drop records the call as cancelled, and publishes that.
    Abandoned,
    /// The drop publishes the outcome of this code, because its entry is already queued.
    Recorded(Code),
    /// The drop does nothing. Another record ends the call, or the call is only explained.
    Elsewhere,
}
