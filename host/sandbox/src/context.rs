//! A tool's view of its call, and how it talks to the host while it runs.

use crate::effects::Effects;
use crate::http::Traffic;
use crate::program::{Escalation, ProgramExtra};
use crate::toolset::{ApprovedCalls, CallableTool, InnerAnswers, InnerCall, InnerCalls, InnerOutlook, ToolSummary};
use portcullis_definitions::manifest::Failure;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Maximum length of a text in one field of a report or an ask, in bytes. A longer text is truncated.
const TEXT_BYTES_MAX: usize = 4096;

/// Maximum size of a piece of an answer that is passed on at once, in bytes. It is the size of a pipe, so a tool needs
/// few writes, and even all calls together take little memory of the host.
pub const OUTPUT_PIECE_BYTES_MAX: usize = 64 * 1024;

/// A progress report of a call. Untrusted text of the guest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// A short title.
    pub title: Option<String>,
    /// A JSON object, unchecked.
    pub metadata: Option<String>,
    /// The completed fraction, from 0 to 1.
    pub fraction: Option<f32>,
}

/// A tool's request for a permission while its call runs. Untrusted text of the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The name of a permission.
    pub permission: String,
    /// What the permission is for.
    pub resource: String,
    /// Why the tool asks.
    pub reason: String,
    /// What a remembered approval may cover, as the tool proposes. Each is the path of a directory of resources,
    /// unchecked.
    pub patterns: Vec<String>,
}

/// The host services for one running call.
pub trait CallHost: Send + Sync + 'static {
    /// Receives a progress report. It is called at most as often as the limit allows.
    fn report(&self, progress: Progress);

    /// Answers a request for a permission. The error is the reason for the guest.
    fn ask(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>>;

    /// Asks a person for what a program lacks, for one run. The error is the reason for the guest. Without an
    /// implementation, no approver is asked.
    fn escalate(
        &self,
        _escalation: Escalation,
    ) -> Pin<Box<dyn Future<Output = Result<ProgramExtra, String>> + Send + '_>> {
        Box::pin(ready(Err("not approved".to_owned())))
    }

    /// Returns the tools of a key that a call could reach now, sorted by name. Without an implementation there are
    /// none.
    fn list_tools<'a>(&'a self, _key: &'a str) -> Pin<Box<dyn Future<Output = Vec<ToolSummary>> + Send + 'a>> {
        Box::pin(ready(Vec::new()))
    }

    /// Returns the tools of a key that fit a need best, at most `limit`.
    fn search_tools<'a>(
        &'a self,
        _key: &'a str,
        _query: String,
        _limit: usize,
    ) -> Pin<Box<dyn Future<Output = Vec<ToolSummary>> + Send + 'a>> {
        Box::pin(ready(Vec::new()))
    }

    /// Returns the definition of a tool of a key, or `None` if no call could reach it.
    fn find_tool<'a>(
        &'a self,
        _key: &'a str,
        _tool: &'a str,
    ) -> Pin<Box<dyn Future<Output = Option<CallableTool>> + Send + 'a>> {
        Box::pin(ready(None))
    }

    /// Makes a guest's calls of other tools. Without an implementation they are denied.
    fn call_tools(&self, calls: InnerCalls) -> Pin<Box<dyn Future<Output = InnerAnswers> + Send + '_>> {
        let denied = || Err(Failure::Denied("no tool can be called here".to_owned()));
        let answers = calls.calls.iter().map(|_| denied()).collect();
        Box::pin(ready(InnerAnswers { answers, spent: Duration::ZERO }))
    }

    /// Says what the host would do with calls through a key. Without an implementation they would be denied.
    fn foresee_calls<'a>(
        &'a self,
        _key: &'a str,
        calls: Vec<InnerCall>,
    ) -> Pin<Box<dyn Future<Output = Vec<InnerOutlook>> + Send + 'a>> {
        let denied = |_| InnerOutlook::Fails(Failure::Denied("no tool can be called here".to_owned()));
        Box::pin(ready(calls.iter().map(denied).collect()))
    }

    /// Asks an approver about calls together. Without an implementation none is approved.
    fn approve_calls<'a>(
        &'a self,
        _key: &'a str,
        calls: Vec<InnerCall>,
    ) -> Pin<Box<dyn Future<Output = ApprovedCalls> + Send + 'a>> {
        Box::pin(ready(ApprovedCalls { approved: vec![false; calls.len()], spent: Duration::ZERO }))
    }

    /// Receives the next piece of the text answer. It consists of whole UTF-8 characters, contains no secrets of the
    /// call's requests, and is at most [`OUTPUT_PIECE_BYTES_MAX`] long. The pieces of a call arrive in order, the last
    /// one before the run returns. After an error, no piece follows, and the run ends at its limit. A host that stores
    /// pieces later may report the error for a later piece.
    ///
    /// # Errors
    /// There is no room for the piece, or it cannot be stored.
    fn write_output(&self, bytes: &[u8]) -> Result<(), OutputFull>;

    /// Returns whether the host takes another piece now. A guest that does not wait for this may still write.
    fn has_output_room(&self) -> bool {
        true
    }

    /// Waits until the host takes another piece.
    fn output_room(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(ready(()))
    }

    /// Receives the network traffic of a run that was dropped before it ended. Other runs return it.
    fn traffic(&self, traffic: Traffic);

    /// Receives the changes to directories by a run that was dropped before it ended. Other runs return them.
    fn effects(&self, effects: Effects);
}

/// An error: there is no room for the rest of a call's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no room for the rest of the answer")]
pub struct OutputFull;

/// The context of one call.
#[derive(Clone)]
pub struct CallContext {
    /// The id of the call.
    pub id: Arc<str>,
    /// The session of the call.
    pub session: Arc<str>,
    /// The message that led to the call.
    pub message: Option<Arc<str>>,
    /// The agent that made the call.
    pub agent: Option<Arc<str>>,
    /// Receives reports and requests of the tool.
    pub host: Arc<dyn CallHost>,
    /// Maximum time for an approver to answer. The run's own time limit is paused meanwhile.
    pub approval_time: Duration,
}

/// Truncates a guest's text at a character boundary.
pub(crate) fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}
