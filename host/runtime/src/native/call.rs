//! What a native tool knows about its call, and what it can tell the host while it runs.

use crate::text::cut;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Limits, Principal};
use portcullis_sandbox::{CallHost, Cancellation, Network, Progress};
use std::fmt;
use std::sync::{Arc, Mutex};

/// Maximum length of a text of a progress report, in bytes, as for the tools of plugins. A longer text is cut.
const PROGRESS_TEXT_BYTES_MAX: usize = 4096;

/// A call of a native tool. Clones share it.
#[derive(Clone)]
pub struct NativeCall(Arc<CallContents>);

struct CallContents {
    facts: NativeFacts,
    stop: Cancellation,
    /// The way to the caller, until the call has ended.
    progress: Mutex<Option<ProgressSender>>,
}

/// The facts about a call that its tool may know.
pub(crate) struct NativeFacts {
    pub(crate) id: Arc<str>,
    pub(crate) session: Arc<str>,
    pub(crate) principal: Principal,
    pub(crate) agent: Option<Arc<str>>,
}

/// Sends the progress of one call.
pub(crate) struct ProgressSender {
    host: Arc<dyn CallHost>,
    network: Network,
    reports_left: usize,
}

impl ProgressSender {
    /// Creates the sender of a call with these limits.
    pub(crate) fn new(host: Arc<dyn CallHost>, network: &Network, limits: &Limits) -> Self {
        Self { host, network: network.clone(), reports_left: limits.progress_reports }
    }

    /// Reports progress, if the policy's limit on reports is not reached.
    pub(crate) fn report(&mut self, progress: Progress) {
        let Some(left) = self.reports_left.checked_sub(1) else { return };
        self.reports_left = left;
        // Redact before the cut, because a part of a secret would not be found.
        let text = |text: String| cut(&self.network.redact(text), PROGRESS_TEXT_BYTES_MAX).to_owned();
        self.host.report(Progress {
            title: progress.title.map(text),
            metadata: progress.metadata.map(text),
            fraction: progress.fraction.filter(|fraction| (0.0..=1.0).contains(fraction)),
        });
    }
}

impl NativeCall {
    pub(super) fn new(facts: NativeFacts, progress: ProgressSender) -> Self {
        let (stop, progress) = (Cancellation::new(), Mutex::new(Some(progress)));
        Self(Arc::new(CallContents { facts, stop, progress }))
    }

    /// Returns the id of the call, as in the audit log.
    pub fn id(&self) -> &str {
        &self.0.facts.id
    }

    /// Returns the session of the call.
    pub fn session(&self) -> &str {
        &self.0.facts.session
    }

    /// Returns the principal on whose behalf the call is made.
    pub fn principal(&self) -> &Principal {
        &self.0.facts.principal
    }

    /// Returns the agent that makes the call, if the caller named one. Untrusted text.
    pub fn agent(&self) -> Option<&str> {
        self.0.facts.agent.as_deref()
    }

    /// Reports progress to the caller. Does nothing after the call has ended, or when the policy's limit on reports is
    /// reached.
    pub fn report(&self, progress: Progress) {
        if let Some(sender) = self.0.progress.lock_recovered().as_mut() {
            sender.report(progress);
        }
    }

    /// Returns a signal that is set when the call has ended in any way: with an answer, at its time limit, or because
    /// its caller cancelled or dropped it. The future of the tool is dropped then. Work that the tool has moved to
    /// another task or thread uses this signal to stop.
    pub fn cancellation(&self) -> &Cancellation {
        &self.0.stop
    }

    /// Ends the call when the returned guard is dropped.
    pub(super) fn ending(&self) -> CallEnding {
        CallEnding(self.clone())
    }
}

impl fmt::Debug for NativeCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = formatter.debug_struct("NativeCall");
        call.field("id", &self.id()).field("session", &self.session()).finish_non_exhaustive()
    }
}

/// Ends a call when it is dropped. What the tool has left running cannot reach the host any more.
pub(super) struct CallEnding(NativeCall);

impl Drop for CallEnding {
    fn drop(&mut self) {
        let CallContents { stop, progress, .. } = &*self.0.0;
        // The progress ends before the signal, so that work which sees the signal reports nothing more.
        let sender = progress.lock_recovered().take();
        drop(sender);
        stop.cancel_at_once();
    }
}
