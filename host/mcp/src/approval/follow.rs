//! A call that may outlive its request. It is followed until it is over, or until its request is answered with a task
//! or an approval request.

use super::called::Called;
use super::form::waits_elsewhere;
use super::running::{Heard, RunningCall};
use super::spoken::Spoken;
use super::unattended::{denies_unattended, unattended};
use super::{answer, rounds};
use crate::tasks;
use portcullis::Question;
use rmcp::ErrorData;
use std::sync::Arc;
use tokio::time::Instant;

impl Spoken<'_> {
    /// Follows a call. A client that supports tasks is given one when the call waits for another approver, or runs
    /// long. A client that can be asked by a result is asked. If there is no room for another task or waiting call, the
    /// request keeps waiting here. `answered` is the approval request that this request has answered.
    pub(super) async fn follow(
        &self,
        mut running: RunningCall,
        answered: Option<&Question>,
    ) -> Result<Called, ErrorData> {
        if let Some(question) = answered {
            running.settle(question);
        }
        let mut late = self.client.tasks.then(|| Instant::now() + self.server.inner().options.task_after);
        let mut unwanted = Some(self.unwanted);
        loop {
            match running.hear(late, unwanted).await {
                Heard::Over(reply) => return Ok(Called::Reply(Arc::unwrap_or_clone(reply))),
                Heard::Asks(question) if self.client.modern && self.client.is_asked(&question) => {
                    running = match rounds::ask(self, running, &question) {
                        Ok(required) => return Ok(Called::InputRequired(required)),
                        Err(running) => self.leave(running, &question).await,
                    }
                }
                Heard::Asks(question) if !self.client.is_asked(&question) && denies_unattended(self.server) => {
                    running.settle(&question);
                    let principal = &self.named.caller.principal;
                    answer::give(self.server, principal, &question, unattended()).await?;
                }
                Heard::Asks(question) => match self.make_task(running) {
                    Ok(called) => return Ok(called),
                    Err(back) => running = self.leave(back, &question).await,
                },
                Heard::Late => match self.make_task(running) {
                    Ok(called) => return Ok(called),
                    Err(back) => (running, late) = (back, None),
                },
                Heard::Unwanted => {
                    running.cancel();
                    unwanted = None;
                }
                Heard::Lost => return Err(ErrorData::internal_error("the call's task failed", None)),
            }
        }
    }

    fn make_task(&self, running: RunningCall) -> Result<Called, RunningCall> {
        if !self.client.tasks {
            return Err(running);
        }
        tasks::begin(self.server, self.named, running).map(Called::Task)
    }

    /// Leaves an approval request to the other channels, and tells the client so.
    async fn leave(&self, running: RunningCall, question: &Question) -> RunningCall {
        running.settle(question);
        self.say(&waits_elsewhere(&self.server.inner().host, question)).await;
        running
    }
}
