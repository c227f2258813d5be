//! The changes that a reader receives.

use super::call::{LiveCall, LiveHost};

/// A change that a reader receives.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "almost every event is a call, and few exist at the same time")]
#[non_exhaustive]
pub enum LiveEvent {
    /// A host shares its calls from now on. Forget what was known of its calls: those under way follow.
    Host(LiveHost),
    /// A call under way, a change of one, or its end. It replaces what was known of the call.
    Call(LiveCall),
    /// A host ended or died. Its calls have ended too, or are lost.
    Gone(LiveHost),
}
