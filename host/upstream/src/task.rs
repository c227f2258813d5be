//! Waits for the task that a server made of a call.

use crate::call::CallContext;
use crate::error::ServerError;
use crate::exchange::OpenExchange;
use crate::in_flight::CallInFlight;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolResult, CancelTaskParams, ClientRequest, GetTaskParams, GetTaskRequest, GetTaskResult, InputRequests,
    JsonObject, ServerResult, Task, TaskPayload, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::Peer;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

/// The wait between two questions about a task, if the server names none.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Minimum wait between two questions about a task.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(100);

/// Maximum wait between two questions about a task.
const POLL_INTERVAL_MAX: Duration = Duration::from_secs(30);

/// Maximum time to tell a server that no caller waits for its task.
const CANCEL_TIME: Duration = Duration::from_secs(5);

/// A task of a server. Dropping it before its end cancels it.
struct OpenTask {
    id: String,
    peer: Peer<RoleClient>,
    has_ended: bool,
}

impl Drop for OpenTask {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.has_ended, Handle::try_current()) {
            let (peer, params) = (self.peer.clone(), CancelTaskParams::new(self.id.clone()));
            runtime.spawn(async move { timeout(CANCEL_TIME, peer.cancel_task(params)).await.map(drop) });
        }
    }
}

impl CallContext<'_> {
    /// Asks for a task until it has ended, and replies to what it asks. Has no deadline of its own.
    pub(crate) async fn wait_for_task(
        &self,
        task: Task,
        in_flight: &CallInFlight,
    ) -> Result<CallToolResult, ServerError> {
        let mut open = OpenTask { id: task.task_id.clone(), peer: self.peer.clone(), has_ended: false };
        let (mut interval, mut answered) = (task.poll_interval_ms, BTreeSet::new());
        loop {
            let wait = interval.map_or(POLL_INTERVAL, Duration::from_millis);
            sleep(wait.clamp(POLL_INTERVAL_MIN, POLL_INTERVAL_MAX)).await;
            let state = self.task(&open.id).await?.task;
            interval = state.task.poll_interval_ms.or(interval);
            // Before the returns below, which drop `open`: a task that has ended must not be cancelled.
            open.has_ended = state.task.status.is_terminal();
            match state.payload {
                TaskPayload::Completed { result } => return completed(result),
                TaskPayload::Failed { error } => return Err(failed(&error)),
                TaskPayload::Cancelled => return Err(ServerError::Cancelled),
                TaskPayload::InputRequired { input_requests } => {
                    self.update_task(&open.id, input_requests, &mut answered, in_flight).await?;
                }
                // Working, or a state of a later version.
                _ => {}
            }
        }
    }

    async fn task(&self, id: &str) -> Result<GetTaskResult, ServerError> {
        let request = ClientRequest::GetTaskRequest(GetTaskRequest::new(GetTaskParams::new(id)));
        match OpenExchange::begin(self.peer, self.traffic, request).await?.answer().await? {
            ServerResult::GetTaskResult(state) => Ok(state),
            _ => Err(ServerError::Malformed { problem: "it is no state of a task".to_owned() }),
        }
    }

    /// Replies to what a task asks. A server can repeat a request that has its reply already.
    async fn update_task(
        &self,
        id: &str,
        mut requests: InputRequests,
        answered: &mut BTreeSet<String>,
        in_flight: &CallInFlight,
    ) -> Result<(), ServerError> {
        requests.retain(|key, _| !answered.contains(key));
        if requests.is_empty() {
            return Ok(());
        }
        answered.extend(requests.keys().cloned());
        let responses = self.input(requests, in_flight).await?;
        let params = UpdateTaskParams::new(id, responses);
        let request = ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(params));
        OpenExchange::begin(self.peer, self.traffic, request).await?.answer().await.map(drop)
    }
}

fn completed(result: JsonObject) -> Result<CallToolResult, ServerError> {
    serde_json::from_value(Value::Object(result)).map_err(|error| ServerError::malformed(&error.to_string()))
}

/// Converts the JSON-RPC error that a task ended with.
fn failed(error: &JsonObject) -> ServerError {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = error.get("message").and_then(Value::as_str).unwrap_or("the task failed");
    ServerError::refused(code.unwrap_or(0), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_problem_of_a_malformed_result_is_cut() {
        let result = [("content".to_owned(), "x".repeat(100_000).into())].into_iter().collect();
        let answer = completed(result);
        assert!(matches!(&answer, Err(ServerError::Malformed { problem }) if problem.len() == 4096), "{answer:?}");
    }
}
