//! A call as the feed tells it. This file must not know how it is sent.

use crate::events::{CallState, Event, Progress};
use crate::text::cut;
use portcullis_ledger::Timestamp;
use portcullis_policy::Targets;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum length of the text of a progress report that is sent, in bytes. A person reads it on one line.
pub const PROGRESS_TEXT_BYTES: usize = 256;

/// Maximum length of the metadata of a progress report that is searched for counts, in bytes. Two numbers are shorter.
const METADATA_BYTES_MAX: usize = 1024;

/// A host that shares its calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LiveHost {
    /// The id of the host in the state directory, as in the member `owner` of the audit log.
    pub id: String,
    /// The process id.
    pub pid: u32,
}

/// A call of a host. Its texts are untrusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LiveCall {
    /// The host that makes the call.
    pub host: LiveHost,
    /// The id of the call, as in the audit log.
    pub call: String,
    /// The session.
    pub session: String,
    /// The principal.
    pub principal: String,
    /// The agent, if the caller named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool's name as the caller wrote it.
    pub tool: String,
    /// The places that the arguments name. They are known once the call is validated.
    #[serde(default, skip_serializing_if = "Targets::is_empty")]
    pub targets: Targets,
    /// The state of the call.
    pub state: LiveState,
    /// When the call was received.
    #[serde(with = "milliseconds")]
    pub started: Timestamp,
    /// The newest progress that the tool reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<LiveProgress>,
    /// How the call ended. `None` if it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<LiveEnd>,
}

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiveState {
    /// The call was received, and is checked.
    Pending,
    /// The call waits for an approver. It stays in this state if its caller no longer waits: whether its request is
    /// still open is in [`Approvals`](crate::Approvals).
    Waiting,
    /// The tool runs.
    Running,
    /// The call has ended.
    Ended,
}

/// A progress report. The text is untrusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LiveProgress {
    /// The completed fraction, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f32>,
    /// The number of steps that are done: the number `done` of the report's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// The number of steps: the number `total` of the report's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What the tool says, cut to [`PROGRESS_TEXT_BYTES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LiveEnd {
    /// The stable name of the outcome.
    pub outcome: String,
    /// The stable name of the code.
    pub code: String,
    /// The time from the request to the end, in milliseconds. It includes the wait for an approver.
    pub milliseconds: u64,
}

impl LiveState {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Ended => "ended",
        }
    }
}

impl LiveCall {
    /// Describes a call by one of its events. `state` is the state if the event does not tell it.
    pub(super) fn of_event(host: &LiveHost, event: &Event, state: LiveState, progress: Option<LiveProgress>) -> Self {
        // The clock may have been set back during the call.
        let took = event.at.duration_since(event.started).unwrap_or_default();
        let end = (state == LiveState::Ended).then_some(event.code).flatten().map(|code| LiveEnd {
            outcome: code.outcome().as_str().to_owned(),
            code: code.as_str().to_owned(),
            milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        Self {
            host: host.clone(),
            call: event.call.to_string(),
            session: event.session.to_string(),
            principal: event.principal.to_string(),
            agent: event.agent.as_deref().map(str::to_owned),
            tool: event.tool.to_string(),
            targets: Targets::clone(&event.targets),
            state,
            started: timestamp(event.started),
            progress,
            end,
        }
    }
}

impl From<CallState> for LiveState {
    fn from(state: CallState) -> Self {
        match state {
            CallState::Pending => Self::Pending,
            CallState::Waiting => Self::Waiting,
            CallState::Running => Self::Running,
            CallState::Ended(_) => Self::Ended,
        }
    }
}

impl LiveProgress {
    /// Takes what people watch from a tool's report.
    pub(super) fn of(progress: &Arc<Progress>) -> Self {
        let metadata = progress.metadata.as_deref().filter(|text| text.len() <= METADATA_BYTES_MAX);
        let metadata: Option<Value> = metadata.and_then(|text| serde_json::from_str(text).ok());
        let count = |name: &str| metadata.as_ref()?.get(name)?.as_u64();
        Self {
            fraction: progress.fraction.filter(|fraction| (0.0..=1.0).contains(fraction)),
            done: count("done"),
            total: count("total"),
            text: progress.title.as_deref().map(|title| cut(title, PROGRESS_TEXT_BYTES).to_owned()),
        }
    }
}

fn timestamp(at: SystemTime) -> Timestamp {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_row(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Sends a moment as the milliseconds since 1970.
mod milliseconds {
    use portcullis_ledger::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(moment.as_millisecond())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp::from_row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(fraction: Option<f32>, metadata: &str) -> LiveProgress {
        let metadata = Some(metadata.to_owned());
        LiveProgress::of(&Arc::new(Progress { title: Some("t".repeat(5000)), metadata, fraction }))
    }

    #[test]
    fn a_report_is_cut_and_its_numbers_are_checked() {
        let told = progress(Some(0.5), r#"{"done":3,"total":7}"#);
        assert_eq!((told.fraction, told.done, told.total), (Some(0.5), Some(3), Some(7)));
        assert_eq!(told.text.map(|text| text.len()), Some(PROGRESS_TEXT_BYTES));
        for fraction in [f32::NAN, -1.0, 1.5, f32::INFINITY] {
            assert_eq!(progress(Some(fraction), "{").fraction, None);
        }
        let told = progress(None, r#"{"done":-1,"total":"7"}"#);
        assert_eq!((told.done, told.total), (None, None));
    }
}
