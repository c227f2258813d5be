//! How a task stands, in the words of the extension.

use crate::approval::{self, At, Client};
use crate::result::{self, Shape};
use portcullis::plugins::Tool;
use portcullis::{Host, Outcome, Reply};
use rmcp::model::{DetailedTask, ErrorCode, JsonObject, Task, TaskPayload, TaskStatus};
use serde_json::{Value, json};
use std::time::Duration;

/// How often a client should look, in milliseconds: a person does not notice a second.
const POLL_MILLISECONDS: u64 = 1000;

/// What never changes of a task.
#[derive(Clone)]
pub(super) struct Base {
    created_at: String,
    pub(super) lifetime: Duration,
}

impl Base {
    /// A task from now on, and for this time.
    pub(super) fn now(lifetime: Duration) -> Self {
        Self { created_at: rmcp::task_manager::current_timestamp(), lifetime }
    }

    /// The task as the extension has it. A call is older than the task that it becomes, but a task is updated no
    /// earlier than it is created. Both times are in UTC and of one form, so they are in order as text.
    pub(super) fn task(&self, id: &str, status: TaskStatus, since: &str) -> Task {
        let since = since.max(&self.created_at);
        let lifetime = u64::try_from(self.lifetime.as_millis()).unwrap_or(u64::MAX);
        Task::new(id, status, self.created_at.clone(), since)
            .with_ttl_ms(lifetime)
            .with_poll_interval_ms(POLL_MILLISECONDS)
    }
}

/// What a task adds to that.
pub(super) struct State {
    payload: TaskPayload,
    message: Option<String>,
}

impl State {
    /// How a call stands for a client.
    pub(super) fn of(host: &Host, at: &At, client: Client, tool: &Tool, shape: Shape) -> Self {
        let (payload, message) = match at {
            At::Work => (TaskPayload::Working, None),
            At::Asking(question) if client.is_asked(question) => {
                let input_requests = [(question.id.clone(), approval::form(question))].into_iter().collect();
                (TaskPayload::InputRequired { input_requests }, None)
            }
            At::Asking(question) => (TaskPayload::Working, Some(approval::waits_elsewhere(host, question))),
            At::Over(reply) => over(reply, tool, shape),
        };
        Self { payload, message }
    }

    /// The whole of it.
    pub(super) fn detailed(self, mut task: Task) -> DetailedTask {
        task.status_message = self.message;
        DetailedTask::new(task, self.payload)
    }
}

/// How a call ended. What broke is a failure of the task; a tool that says that it failed has completed, and its result
/// says so.
fn over(reply: &Reply, tool: &Tool, shape: Shape) -> (TaskPayload, Option<String>) {
    match reply.outcome() {
        Outcome::Cancelled => (TaskPayload::Cancelled, Some(reply.message.clone())),
        Outcome::Trapped => (TaskPayload::Failed { error: broken(reply) }, None),
        Outcome::Completed
        | Outcome::Failed
        | Outcome::Invalid
        | Outcome::Denied
        | Outcome::Pending
        | Outcome::Limit
        | Outcome::Refused => {
            let result = object(serde_json::to_value(result::of(reply, Some(tool), shape)).ok());
            (TaskPayload::Completed { result }, None)
        }
    }
}

fn broken(reply: &Reply) -> JsonObject {
    let code = ErrorCode::INTERNAL_ERROR.0;
    object(Some(json!({ "code": code, "message": reply.message, "data": { "code": reply.code.as_str() } })))
}

/// A result is an object always; were it none, the client would get an empty one.
fn object(value: Option<Value>) -> JsonObject {
    match value {
        Some(Value::Object(object)) => object,
        Some(_) | None => JsonObject::new(),
    }
}
