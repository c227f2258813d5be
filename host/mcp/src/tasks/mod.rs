//! Calls that continue after their request was answered: the tasks extension, for clients that declare it.
//!
//! A task belongs to the principal of its call, not to a connection, so it continues when its client disconnects. It is
//! lost with the process. A client's answers for its user count in a task as they do elsewhere.

mod kept;
mod state;

pub(crate) use kept::Tasks;

use crate::approval::{self, CallPhase, ClientAbilities, RunningCall};
use crate::call::Named;
use crate::caller::McpCaller;
use crate::result::Shape;
use crate::server::Server;
use kept::{Base, Task};
use portcullis::Question;
use rmcp::model::{
    CancelTaskParams, CreateTaskResult, GetTaskParams, GetTaskResult, InputResponses, TaskStatus, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use state::TaskState;
use std::sync::Arc;

/// Turns a call into a task. Gives the call back if there is no room for another task.
pub(crate) fn begin(server: &Server, named: &Named, running: RunningCall) -> Result<CreateTaskResult, RunningCall> {
    let base = Base::now(approval::lifetime(server, named));
    let since = running.stage().since;
    let task = Task { running, tool: Arc::clone(&named.tool), base: base.clone() };
    match server.inner().tasks.0.put(&named.caller.principal, task, base.lifetime) {
        Ok(id) => Ok(CreateTaskResult::new(base.task(&id, TaskStatus::Working, &since))),
        Err(task) => Err(task.running),
    }
}

/// Serves `tasks/get`: the state of a task, and its result.
///
/// # Errors
/// The caller has no such task.
pub(crate) fn get(
    server: &Server,
    params: &GetTaskParams,
    cx: &RequestContext<RoleServer>,
) -> Result<GetTaskResult, ErrorData> {
    let seen = |task: &Task| (task.running.stage(), Arc::clone(&task.tool), task.base.clone());
    let (stage, tool, base) = look(server, cx, &params.task_id, seen)?;
    let shape = Shape::of(server, cx.protocol_version().as_ref());
    let state =
        TaskState::of(&server.inner().host, &stage.at, ClientAbilities::of(&server.inner().options, cx), &tool, shape);
    Ok(GetTaskResult::new(state.detailed(base.task(&params.task_id, TaskStatus::Working, &stage.since))))
}

/// Serves `tasks/update`: records the answer of the client's user, if a client's answers count. Ignores a response to
/// anything but the open approval request, as the extension requires.
///
/// # Errors
/// The caller has no such task, or the answer cannot be recorded.
pub(crate) async fn update(
    server: &Server,
    params: UpdateTaskParams,
    cx: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let client = ClientAbilities::of(&server.inner().options, cx);
    let answered = |task: &Task| answered(task, client, &params.input_responses);
    let Some((question, answer)) = look(server, cx, &params.task_id, answered)? else { return Ok(()) };
    approval::give(server, &McpCaller::of(server, cx).principal, &question, answer).await
}

/// Returns the open approval request that these responses answer, and the answer. Stops announcing the request.
fn answered(
    task: &Task,
    client: ClientAbilities,
    responses: &InputResponses,
) -> Option<(Arc<Question>, portcullis::Answer)> {
    let CallPhase::Asking(question) = task.running.stage().at else { return None };
    if !client.is_asked(&question) {
        return None;
    }
    let answer = approval::read(responses.get(&question.id)?, &question)?;
    task.running.settle(&question);
    Some((question, answer))
}

/// Serves `tasks/cancel`: ends the call, if it is not over.
///
/// # Errors
/// The caller has no such task.
pub(crate) fn cancel(
    server: &Server,
    params: &CancelTaskParams,
    cx: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    look(server, cx, &params.task_id, |task: &Task| task.running.cancel())
}

fn look<R>(
    server: &Server,
    cx: &RequestContext<RoleServer>,
    id: &str,
    look: impl FnOnce(&Task) -> R,
) -> Result<R, ErrorData> {
    let found = server.inner().tasks.0.look(&McpCaller::of(server, cx).principal, id, look);
    found.ok_or_else(|| ErrorData::invalid_params("there is no such task, or it has expired", None))
}
