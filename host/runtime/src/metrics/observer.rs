//! What an embedder learns about each call that has ended, to publish it as a trace.

use super::snapshot::PolicyAnswer;
use super::step::{CallStep, StepTimes};
use crate::reply::Code;
use portcullis_policy::ToolName;
use std::time::{Duration, Instant, SystemTime};

/// Learns about each call that has ended.
pub trait CallObserver: Send + Sync {
    /// Called when a call has ended and its outcome is recorded. It must not block: the call's reply waits for it.
    fn ended(&self, call: &FinishedCall<'_>);
}

/// A call that has ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FinishedCall<'a> {
    /// The id of the call, 128 random bits in hexadecimal.
    pub id: &'a str,
    /// The id of the call whose tool made this call. `None` if a caller made it.
    pub parent: Option<&'a str>,
    /// The id of the call that a caller made, and that led to this one. It is this one, if a caller made it.
    pub first: &'a str,
    /// The trace of the caller, as it was given: a `traceparent` of W3C Trace Context. Untrusted text.
    pub trace: Option<&'a str>,
    /// The tool. `None` if the call was refused before its tool was known.
    pub tool: Option<&'a ToolName>,
    /// What the policy answered.
    pub answer: PolicyAnswer,
    /// How the call ended.
    pub code: Code,
    /// When the call was received.
    pub started: SystemTime,
    /// The time from then to the recorded outcome.
    pub took: Duration,
    pub(crate) began: Instant,
    pub(crate) times: &'a StepTimes,
}

impl FinishedCall<'_> {
    /// Returns the steps that the call took: when each began, after the call was received, and how long it took.
    pub fn steps(&self) -> impl Iterator<Item = (CallStep, Duration, Duration)> {
        let taken = CallStep::ALL.into_iter().filter_map(|step| Some((step, self.times.get(step)?)));
        taken.map(|(step, time)| (step, time.began.saturating_duration_since(self.began), time.took))
    }
}
