//! Announces a call's approval requests to the code that talks to its client.

use super::client::Client;
use super::stage::{At, Stage};
use portcullis::{Answering, Approver, Question};
use std::sync::Arc;
use tokio::sync::watch;

/// An approver that announces requests and answers none. The answer comes through the ledger, from the first channel
/// that gives one.
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

/// An announced approval request. It is dropped when it was answered or its call no longer waits for it.
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
