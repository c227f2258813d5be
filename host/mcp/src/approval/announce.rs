//! The place where a call's question becomes known to whoever speaks with its client.

use super::Client;
use super::running::{At, Stage};
use portcullis::approvals::Answering;
use portcullis::{Approver, Question};
use std::sync::Arc;
use tokio::sync::watch;

/// Makes questions known and answers none: the answer comes by the ledger, from whichever channel is first.
pub(super) struct Announcer {
    stage: watch::Sender<Stage>,
    client: Client,
}

impl Announcer {
    /// Announces requests on this channel to the code that talks to the client.
    pub(super) fn new(stage: watch::Sender<Stage>, client: Client) -> Self {
        Self { stage, client }
    }
}

impl Approver for Announcer {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(async move {
            let _standing = Standing::begin(&self.stage, question);
            std::future::pending().await
        })
    }

    fn asks_caller(&self, question: &Question) -> bool {
        self.client.is_asked(question)
    }
}

/// A question that is open. Dropped, it was answered or nobody waits for it any more.
struct Standing<'a>(&'a watch::Sender<Stage>);

impl<'a> Standing<'a> {
    fn begin(stage: &'a watch::Sender<Stage>, question: &Question) -> Self {
        stage.send_replace(Stage::now(At::Asking(Arc::new(question.clone()))));
        Self(stage)
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        self.0.send_replace(Stage::now(At::Work));
    }
}
