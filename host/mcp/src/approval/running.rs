//! A call that outlives the request that asked for it. Whoever holds it keeps it alive; dropped, it ends at once and is
//! recorded as cancelled.

use super::announce::Announcer;
use super::client::Client;
use super::stage::{At, Stage};
use portcullis::{Cancellation, Host, Question, Reply, Request};
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// What is heard of a call.
pub(super) enum Heard {
    /// It is over.
    Over(Arc<Reply>),
    /// It asks.
    Asks(Arc<Question>),
    /// It has run for as long as was said.
    Late,
    /// Nobody wants its answer any more.
    Unwanted,
    /// Its task broke and says nothing any more.
    Lost,
}

/// A call in a task of its own.
pub(crate) struct Running {
    stage: watch::Receiver<Stage>,
    cancellation: Cancellation,
    task: AbortHandle,
    /// The last question that is not asked here any more: it was answered here, or is left to others.
    settled: Mutex<Option<String>>,
}

impl Running {
    /// Starts a call. Its questions come here first where they are `announced`.
    pub(super) fn start(host: &Host, request: Request, client: Client, announced: bool) -> Self {
        let (sender, stage) = watch::channel(Stage::now(At::Work));
        let cancellation = Cancellation::new();
        let mut request = request.cancellation(cancellation.clone());
        if announced {
            request = request.approver(Arc::new(Announcer::new(sender.clone(), client)));
        }
        let host = host.clone();
        let run = async move {
            let reply = host.call(request).await;
            sender.send_replace(Stage::now(At::Over(Arc::new(reply))));
        };
        let task = tokio::spawn(run).abort_handle();
        Self { stage, cancellation, task, settled: Mutex::default() }
    }

    /// Where it is. A question that is settled here is not asked any more, even if the call has yet to hear of it.
    pub(crate) fn stage(&self) -> Stage {
        let mut stage = self.stage.borrow().clone();
        if matches!(&stage.at, At::Asking(question) if self.is_settled(question)) {
            stage.at = At::Work;
        }
        stage
    }

    /// Does not ask this question any more.
    pub(crate) fn settle(&self, question: &Question) {
        *self.settled.lock().unwrap_or_else(PoisonError::into_inner) = Some(question.id.clone());
    }

    fn is_settled(&self, question: &Question) -> bool {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(&question.id)
    }

    /// Cancels the call, without grace. It ends as a call does, and what it did is recorded.
    pub(crate) fn cancel(&self) {
        self.cancellation.cancel_at_once();
    }

    /// What comes next of the call.
    pub(super) async fn hear(&mut self, late: Option<Instant>, unwanted: Option<&CancellationToken>) -> Heard {
        loop {
            // Marked as seen before it is looked at, so that no change falls between the two.
            self.stage.mark_unchanged();
            match self.stage().at {
                At::Over(reply) => return Heard::Over(reply),
                At::Asking(question) => return Heard::Asks(question),
                At::Work => {}
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

impl Drop for Running {
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
