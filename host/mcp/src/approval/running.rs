//! A call that can outlive its request. Dropping it ends the call at once, and the audit log records it as cancelled.

use super::announce::QuestionAnnouncer;
use super::called::Called;
use super::client::ClientAbilities;
use super::hold::{CallHold, SharedHold};
use super::session::{SessionEffect, SessionEvent, SessionState, lost, step};
use super::stage::{CallPhase, CallStage};
use portcullis::{Cancellation, Host, Question, Reply, Request};
use rmcp::ErrorData;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A call that a request waits for, or that is kept for its client. It runs in its own task, or is a shared call that
/// may run on another host.
pub(crate) struct RunningCall {
    stage: watch::Receiver<CallStage>,
    hold: CallHold,
    state: SessionState,
}

/// A call that has not run yet. Dropping it before it is polled leaves no trace.
pub(super) struct StartingCall {
    call: Pin<Box<dyn Future<Output = Reply> + Send>>,
    sender: watch::Sender<CallStage>,
    stage: watch::Receiver<CallStage>,
    cancellation: Cancellation,
}

impl StartingCall {
    /// Prepares a call. Its approval requests come here first if `asked` is the client that may be asked.
    pub(super) fn new(
        host: &Host,
        request: Request,
        asked: Option<ClientAbilities>,
        unwanted: &CancellationToken,
    ) -> Self {
        let (sender, stage) = watch::channel(CallStage::now(CallPhase::Work));
        let cancellation = Cancellation::new();
        // The host still gets the call, so that the audit log records it as cancelled.
        if unwanted.is_cancelled() {
            cancellation.cancel_at_once();
        }
        let mut request = request.cancellation(cancellation.clone());
        if let Some(client) = asked {
            request = request.approver(Arc::new(QuestionAnnouncer::new(sender.clone(), client)));
        }
        let host = host.clone();
        Self { call: Box::pin(async move { host.call(request).await }), sender, stage, cancellation }
    }

    /// Runs the call on this thread until it waits, or has computed for long. Returns its result if it has ended.
    pub(super) fn run_here(&mut self) -> Option<Result<Called, ErrorData>> {
        match self.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(called) => Some(called),
            // It is polled again, so no wake-up since this poll is lost.
            Poll::Pending => None,
        }
    }

    /// Waits until the call is over, without a task of its own, which would wake another thread. Returns `None` if the
    /// call says something to its client before that, or if `unwanted` is cancelled.
    pub(super) async fn wait_here(&mut self, unwanted: &CancellationToken) -> Option<Result<Called, ErrorData>> {
        // A copy, so that the next reader sees the change too.
        let mut stage = self.stage.clone();
        tokio::select! {
            biased;
            called = poll_fn(|cx| self.poll(cx)) => Some(called),
            _ = stage.changed() => None,
            () = unwanted.cancelled() => None,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Called, ErrorData>> {
        // No task of its own catches the panic here, so it would end the request without a response.
        match catch_unwind(AssertUnwindSafe(|| self.call.as_mut().poll(cx))) {
            Ok(Poll::Ready(reply)) => Poll::Ready(Ok(Called::Reply(reply))),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(Err(lost())),
        }
    }

    /// Runs the call, or the rest of it, in a task of its own.
    pub(super) fn run(self) -> RunningCall {
        let Self { call, sender, stage, cancellation } = self;
        let run = async move {
            let reply = call.await;
            sender.send_replace(CallStage::now(CallPhase::Over(Arc::new(reply))));
        };
        let hold = CallHold::Here { cancellation, task: tokio::spawn(run).abort_handle() };
        RunningCall { stage, hold, state: SessionState::Working }
    }
}

impl RunningCall {
    /// Takes up a shared call for a request of its client, which received this approval request before.
    pub(super) fn take_up(stage: watch::Receiver<CallStage>, hold: SharedHold, parked: Option<Arc<Question>>) -> Self {
        let state = parked.map_or(SessionState::Working, SessionState::Parked);
        Self { stage, hold: CallHold::Shared(hold), state }
    }

    /// Takes a step, and returns what is to be done.
    #[must_use]
    pub(crate) fn step(&mut self, event: SessionEvent) -> Vec<SessionEffect> {
        let (state, effects) = step(std::mem::replace(&mut self.state, SessionState::Ended), event);
        self.state = state;
        effects
    }

    /// Says that the call is kept for its client. There is nothing to do then.
    pub(crate) fn kept(&mut self) {
        let _ = self.step(SessionEvent::Kept);
    }

    /// Leaves a shared call to the next request of its client, which can reach another host.
    pub(super) fn let_go(mut self) {
        // In any other state, dropping it would cancel the call.
        self.state = SessionState::Ended;
    }

    /// Returns the shared call, if this is one.
    pub(super) fn shared(&self) -> Option<&SharedHold> {
        match &self.hold {
            CallHold::Here { .. } => None,
            CallHold::Shared(hold) => Some(hold),
        }
    }

    /// Returns the current stage for the client of a task. A settled approval request counts as work, even if the call
    /// has not received the answer yet.
    pub(crate) fn stage(&self) -> CallStage {
        let mut stage = self.stage.borrow().clone();
        if matches!(&stage.at, CallPhase::Asking(question) if self.state.is_settled(question)) {
            stage.at = CallPhase::Work;
        }
        stage
    }

    /// Returns what the call does now, as [`Self::next_phase`] would.
    pub(super) fn phase(&mut self) -> CallPhase {
        self.stage.borrow_and_update().at.clone()
    }

    /// Waits until the call does something else. Returns `None` if its task has ended without a reply.
    pub(super) async fn next_phase(&mut self) -> Option<CallPhase> {
        self.stage.changed().await.ok()?;
        Some(self.phase())
    }

    /// Returns the approval request that the call waits for, settled or not.
    pub(crate) fn asking(&self) -> Option<Arc<Question>> {
        self.stage.borrow().at.question().cloned()
    }

    /// Returns the approval request that the client of a parked call has received.
    pub(super) fn parked(&self) -> Option<Arc<Question>> {
        match &self.state {
            SessionState::Parked(question) => Some(Arc::clone(question)),
            SessionState::Working
            | SessionState::Form(_)
            | SessionState::Recording(..)
            | SessionState::Settled(_)
            | SessionState::Parking(_)
            | SessionState::BecomingTask { .. }
            | SessionState::Cancelling
            | SessionState::Task(_)
            | SessionState::Ended => None,
        }
    }

    /// Returns the reply, if the call is over. A shared call is then forgotten.
    pub(super) fn into_reply(self) -> Option<Reply> {
        let CallPhase::Over(reply) = self.stage.borrow().at.clone() else { return None };
        if let Some(hold) = self.shared() {
            hold.forget();
        }
        // This is the last reader, so the reply is usually not copied.
        drop(self);
        Some(Arc::unwrap_or_clone(reply))
    }

    /// Cancels the call without a grace period. Its side effects remain and are recorded.
    pub(crate) fn cancel(&self) {
        self.hold.cancel();
    }

    /// Ends the call, whose reply no one will read.
    pub(super) fn abort(&self) {
        self.hold.abort();
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if self.step(SessionEvent::Dropped).contains(&SessionEffect::Abort) {
            self.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::runtime::Handle;

    fn starting(call: impl Future<Output = Reply> + Send + 'static) -> StartingCall {
        let (sender, stage) = watch::channel(CallStage::now(CallPhase::Work));
        StartingCall { call: Box::pin(call), sender, stage, cancellation: Cancellation::new() }
    }

    #[tokio::test]
    async fn a_call_is_waited_for_without_a_task_until_its_client_must_know_something() {
        let tasks = || Handle::current().metrics().num_alive_tasks();
        let (unwanted, mut asks, before) = (CancellationToken::new(), starting(pending()), tasks());
        let said = asks.sender.clone();
        let mut wait = Box::pin(asks.wait_here(&unwanted));
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(tasks(), before);
        said.send_replace(CallStage::now(CallPhase::Work));
        assert!(wait.as_mut().await.is_none());
        drop(wait);
        assert!(asks.stage.has_changed().unwrap(), "the request sees the change too");

        unwanted.cancel();
        let mut cancelled = starting(pending());
        assert!(cancelled.wait_here(&unwanted).await.is_none());

        let mut panics = starting(async { panic!("a test of a panic") });
        assert!(matches!(panics.wait_here(&CancellationToken::new()).await, Some(Err(_))));
    }
}
