//! A call that can outlive its request. Dropping it ends the call at once, and the audit log records it as cancelled.

use super::announce::QuestionAnnouncer;
use super::client::ClientAbilities;
use super::stage::{CallPhase, CallStage};
use portcullis::policy::recovery::RecoverMutex;
use portcullis::{Cancellation, Host, Question, Reply, Request};
use std::future::pending;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The next event of a followed call.
pub(super) enum Heard {
    /// The call is over.
    Over(Arc<Reply>),
    /// The call waits for an approver.
    Asks(Arc<Question>),
    /// The deadline has passed.
    Late,
    /// The request was cancelled, or the server stops.
    Unwanted,
    /// The call's task ended without a reply.
    Lost,
}

/// A call in its own task.
pub(crate) struct RunningCall {
    stage: watch::Receiver<CallStage>,
    cancellation: Cancellation,
    task: AbortHandle,
    /// The id of the last approval request that is no longer announced here: it was answered here, or is left to the
    /// other channels.
    settled: Mutex<Option<String>>,
}

impl RunningCall {
    /// Starts a call. If `announced`, its approval requests come here first.
    pub(super) fn start(host: &Host, request: Request, client: ClientAbilities, announced: bool) -> Self {
        let (sender, stage) = watch::channel(CallStage::now(CallPhase::Work));
        let cancellation = Cancellation::new();
        let mut request = request.cancellation(cancellation.clone());
        if announced {
            request = request.approver(Arc::new(QuestionAnnouncer::new(sender.clone(), client)));
        }
        let host = host.clone();
        let run = async move {
            let reply = host.call(request).await;
            sender.send_replace(CallStage::now(CallPhase::Over(Arc::new(reply))));
        };
        let task = tokio::spawn(run).abort_handle();
        Self { stage, cancellation, task, settled: Mutex::default() }
    }

    /// Returns the current stage. A settled approval request counts as work, even if the call has not received the
    /// answer yet.
    pub(crate) fn stage(&self) -> CallStage {
        let mut stage = self.stage.borrow().clone();
        if matches!(&stage.at, CallPhase::Asking(question) if self.is_settled(question)) {
            stage.at = CallPhase::Work;
        }
        stage
    }

    /// Stops announcing an approval request.
    pub(crate) fn settle(&self, question: &Question) {
        *self.settled.lock_recovered() = Some(question.id.clone());
    }

    fn is_settled(&self, question: &Question) -> bool {
        self.settled.lock_recovered().as_deref() == Some(&question.id)
    }

    /// Cancels the call without a grace period. Its side effects remain and are recorded.
    pub(crate) fn cancel(&self) {
        self.cancellation.cancel_at_once();
    }

    /// Waits for the next event of the call.
    pub(super) async fn hear(&mut self, late: Option<Instant>, unwanted: Option<&CancellationToken>) -> Heard {
        loop {
            // Mark the value as seen before reading it, so that no change is lost in between.
            self.stage.mark_unchanged();
            match self.stage().at {
                CallPhase::Over(reply) => return Heard::Over(reply),
                CallPhase::Asking(question) => return Heard::Asks(question),
                CallPhase::Work => {}
            }
            if late.is_some_and(|late| late <= Instant::now()) {
                return Heard::Late;
            }
            tokio::select! {
                biased;
                changed = self.stage.changed() => {
                    if changed.is_err() {
                        return Heard::Lost;
                    }
                }
                () = told(unwanted) => return Heard::Unwanted,
                () = reached(late) => return Heard::Late,
            }
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn told(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => pending().await,
    }
}

async fn reached(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => pending().await,
    }
}
