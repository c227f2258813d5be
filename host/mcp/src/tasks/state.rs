//! The state of a task, in the terms of the tasks extension.

use crate::approval::{self, CallPhase, ClientAbilities};
use crate::result::{self, Shape};
use portcullis::plugins::Tool;
use portcullis::{Host, Outcome, Reply};
use rmcp::model::{DetailedTask, ErrorCode, JsonObject, Task, TaskPayload};
use serde_json::{Value, json};

/// The code of a call whose process has died. The audit log has the same one.
const LOST_CODE: &str = "host-died";

/// The current state of a task.
pub(super) struct TaskState {
    payload: TaskPayload,
    message: Option<String>,
}

impl TaskState {
    /// Returns the state of a call for a client.
    pub(super) fn of(host: &Host, at: &CallPhase, client: ClientAbilities, tool: Option<&Tool>, shape: Shape) -> Self {
        let (payload, message) = match at {
            CallPhase::Work => (TaskPayload::Working, None),
            CallPhase::Asking(question) if client.is_asked(question) => {
                let input_requests = [(question.id.clone(), approval::form(question))].into_iter().collect();
                (TaskPayload::InputRequired { input_requests }, None)
            }
            CallPhase::Asking(question) => (TaskPayload::Working, Some(approval::waits_elsewhere(host, question))),
            CallPhase::Over(reply) => over(reply, tool, shape),
            CallPhase::Lost => (TaskPayload::Failed { error: failure(approval::LOST, LOST_CODE) }, None),
        };
        Self { payload, message }
    }

    /// Returns the task with its state.
    pub(super) fn detailed(self, mut task: Task) -> DetailedTask {
        task.status_message = self.message;
        DetailedTask::new(task, self.payload)
    }
}

/// Returns the state of a call that has ended. Only a trap fails the task. A call whose tool reports a failure has
/// completed, and its result holds the failure.
fn over(reply: &Reply, tool: Option<&Tool>, shape: Shape) -> (TaskPayload, Option<String>) {
    match reply.outcome() {
        Outcome::Cancelled => (TaskPayload::Cancelled, Some(reply.message.clone())),
        Outcome::Trapped => (TaskPayload::Failed { error: failure(&reply.message, reply.code.as_str()) }, None),
        Outcome::Completed
        | Outcome::Failed
        | Outcome::Invalid
        | Outcome::Denied
        | Outcome::Pending
        | Outcome::Limit
        | Outcome::Refused => {
            let result = object(serde_json::to_value(result::of(reply, tool, shape)).ok());
            (TaskPayload::Completed { result }, None)
        }
    }
}

fn failure(message: &str, reason: &str) -> JsonObject {
    let code = ErrorCode::INTERNAL_ERROR.0;
    object(Some(json!({ "code": code, "message": message, "data": { "code": reason } })))
}

/// Returns a result as an object. A result is always one; otherwise the client would get an empty object.
fn object(value: Option<Value>) -> JsonObject {
    match value {
        Some(Value::Object(object)) => object,
        Some(_) | None => JsonObject::new(),
    }
}
