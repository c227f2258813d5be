//! Calls that continue after their request was answered: the tasks extension, for clients that declare it.
//!
//! A task belongs to the principal of its call, not to a connection, so it continues when its client disconnects. It is
//! lost with the process. A client's answers for its user count in a task as they do elsewhere.

mod kept;
mod state;

pub(crate) use kept::Tasks;

use crate::approval::{self, ClientAbilities, RunningCall, SessionEffect, SessionEvent};
use crate::call::Named;
use crate::caller::McpCaller;
use crate::result::Shape;
use crate::server::Server;
use kept::{Base, Task};
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
    let kept = |task: &mut Task| task.running.kept();
    match server.inner().tasks.0.put(&named.caller.principal, task, base.lifetime, kept) {
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
    let seen = |task: &mut Task| (task.running.stage(), Arc::clone(&task.tool), task.base.clone());
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
    let answered = |task: &mut Task| {
        let event = answered(task, client, &params.input_responses);
        event.map(|event| task.running.step(event)).unwrap_or_default()
    };
    for effect in look(server, cx, &params.task_id, answered)? {
        // Every other effect answers a request that waits for the call, and no request waits for the call of a task.
        if let SessionEffect::Record(question, answer) = effect {
            approval::give(server, &McpCaller::of(server, cx).principal, &question, answer).await?;
        }
    }
    Ok(())
}

/// Returns the answer in these responses to the open approval request of a task.
fn answered(task: &mut Task, client: ClientAbilities, responses: &InputResponses) -> Option<SessionEvent> {
    let question = task.running.asking().filter(|question| client.is_asked(question))?;
    let answer = approval::read(responses.get(&question.id)?, &question)?;
    Some(SessionEvent::Updated(question, answer))
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
    look(server, cx, &params.task_id, |task: &mut Task| {
        if task.running.step(SessionEvent::TaskCancelled).contains(&SessionEffect::Cancel) {
            task.running.cancel();
        }
    })
}

fn look<R>(
    server: &Server,
    cx: &RequestContext<RoleServer>,
    id: &str,
    look: impl FnOnce(&mut Task) -> R,
) -> Result<R, ErrorData> {
    let found = server.inner().tasks.0.look(&McpCaller::of(server, cx).principal, id, look);
    found.ok_or_else(|| ErrorData::invalid_params("there is no such task, or it has expired", None))
}
