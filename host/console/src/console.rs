//! What the pages of one console share.

use crate::console_watch::ConsoleWatch;
use crate::guard::OwnHost;
use crate::host_slot::HostSource;
use crate::limits::STREAMS_MAX;
use crate::live_calls::LiveCalls;
use crate::log::CallLog;
use crate::policy_pause::PolicyPause;
use crate::resumed::ResumedCalls;
use crate::session::{ConsoleSession, ConsoleSessions};
use crate::sign_in::SignInMethod;
use portcullis::Approvals;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What the pages of one console share.
pub(crate) struct ConsoleState {
    pub(crate) own: Arc<OwnHost>,
    pub(crate) sign_in: SignInMethod,
    pub(crate) sessions: ConsoleSessions,
    pub(crate) approvals: Approvals,
    pub(crate) log: CallLog,
    pub(crate) host: HostSource,
    pub(crate) watch: ConsoleWatch,
    pub(crate) live: LiveCalls,
    pub(crate) resumed: ResumedCalls,
    /// The policy files, the user's first.
    pub(crate) policy_files: Vec<PathBuf>,
    pub(crate) pause: PolicyPause,
    /// Identifies this process to its pages, so that a page notices a restart.
    pub(crate) process: String,
    /// One permit for each event stream.
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) stopping: CancellationToken,
}

impl ConsoleState {
    /// Returns the handle with which the person of a session answers.
    pub(crate) fn approvals_of(&self, session: &ConsoleSession) -> Approvals {
        match &session.approver {
            Some(approver) => self.approvals.answering_as(approver),
            None => self.approvals.clone(),
        }
    }

    /// Returns the permits of event streams.
    pub(crate) fn stream_permits() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(STREAMS_MAX))
    }
}
