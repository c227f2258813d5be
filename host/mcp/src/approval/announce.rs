//! Announces a call's approval requests to the code that talks to its client.

use super::client::ClientAbilities;
use super::stage::{CallPhase, CallStage};
use portcullis::approvals::Answering;
use portcullis::{Approver, Question};
use std::sync::Arc;
use tokio::sync::{Mutex, watch};

/// An approver that announces requests and answers none. The answer comes through the ledger, from the first channel
/// that gives one.
pub(super) struct QuestionAnnouncer {
    stage: watch::Sender<CallStage>,
    client: ClientAbilities,
    /// Held by the request that is announced. The client is asked about one request at a time, and the next one waits.
    turn: Mutex<()>,
}

impl QuestionAnnouncer {
    /// Announces requests on this channel to the code that talks to the client.
    pub(super) fn new(stage: watch::Sender<CallStage>, client: ClientAbilities) -> Self {
        Self { stage, client, turn: Mutex::const_new(()) }
    }
}

impl Approver for QuestionAnnouncer {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(async move {
            // Declared first, so that it is released after the request is no longer announced.
            let _turn = self.turn.lock().await;
            let _standing = AnnouncedQuestion::begin(&self.stage, question);
            std::future::pending().await
        })
    }

    fn asks_caller(&self, question: &Question) -> bool {
        self.client.is_asked(question)
    }
}

/// An announced approval request. It is dropped when it was answered or its call no longer waits for it.
struct AnnouncedQuestion<'a>(&'a watch::Sender<CallStage>);

impl<'a> AnnouncedQuestion<'a> {
    fn begin(stage: &'a watch::Sender<CallStage>, question: &Question) -> Self {
        stage.send_replace(CallStage::now(CallPhase::Asking(Arc::new(question.clone()))));
        Self(stage)
    }
}

impl Drop for AnnouncedQuestion<'_> {
    fn drop(&mut self) {
        self.0.send_replace(CallStage::now(CallPhase::Work));
    }
}
