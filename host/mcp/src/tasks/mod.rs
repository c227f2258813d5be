//! Calls that continue after their request was answered: the tasks extension, for clients that declare it.
//!
//! A task belongs to the principal of its call, not to a connection, so it continues when its client disconnects. It is
//! lost with the process that runs it. If hosts share a ledger, a client reaches its tasks on any of them. A client's
//! answers for its user count in a task as they do elsewhere.

pub(crate) mod kept;
mod state;
mod view;

use crate::approval::{self, ClientAbilities, RunningCall, SessionEffect, SessionEvent};
use crate::call::named::Named;
use crate::caller::McpCaller;
use crate::result::Shape;
use crate::server::Server;
use kept::{Base, Task};
use portcullis::shared_calls::{SharedCallKind, SharedCallState};
use portcullis::{Answer, Question};
use rmcp::model::{
    CancelTaskParams, CreateTaskResult, GetTaskParams, GetTaskResult, InputResponses, TaskStatus, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use state::TaskState;
use std::sync::Arc;
use view::TaskView;

/// Turns a call into a task. Gives the call back if there is no room for another task.
pub(crate) async fn begin(
    server: &Server,
    (named, cx): (&Named, &RequestContext<RoleServer>),
    running: RunningCall,
) -> Result<CreateTaskResult, RunningCall> {
    let lifetime = approval::lifetime(server, named);
    if let Some(shelf) = server.shared(cx) {
        let call =
            shelf.keep((SharedCallKind::Task, &named.caller.principal, named.tool.name()), running, lifetime).await?;
        let task = Base::of(&call).task(&call.id, TaskStatus::Working, call.changed_at);
        return Ok(CreateTaskResult::new(task));
    }
    let base = Base::now(lifetime);
    let since = running.stage().since;
    let task = Task { running, tool: Arc::clone(&named.tool), base: base.clone() };
    let kept = |task: &mut Task| task.running.kept();
    match server.inner().tasks.0.put(&named.caller.principal, task, base.lifetime, kept) {
        Ok(id) => Ok(CreateTaskResult::new(base.task(&id, TaskStatus::Working, since))),
        Err(task) => Err(task.running),
    }
}

/// Serves `tasks/get`: the state of a task, and its result.
///
/// # Errors
/// The caller has no such task, or the ledger that has the task cannot be read.
pub(crate) async fn get(
    server: &Server,
    params: &GetTaskParams,
    cx: &RequestContext<RoleServer>,
) -> Result<GetTaskResult, ErrorData> {
    let TaskView { stage, tool, base } = match server.shared(cx) {
        None => look(server, cx, &params.task_id, |task: &mut Task| TaskView::of(task))?,
        Some(shelf) => {
            let principal = McpCaller::of(server, cx).principal;
            let found = shelf.calls.find(SharedCallKind::Task, &principal, &params.task_id).await;
            let call = found.map_err(|error| approval::unavailable(&error))?.ok_or_else(unknown)?;
            TaskView::of_shared(server, &call)
        }
    };
    let shape = Shape::of(server, cx.protocol_version().as_ref());
    let client = ClientAbilities::of(&server.inner().options, cx);
    let state = TaskState::of(&server.inner().host, &stage.at, client, tool.as_deref(), shape);
    Ok(GetTaskResult::new(state.detailed(base.task(&params.task_id, TaskStatus::Working, stage.since))))
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
    let (responses, principal) = (&params.input_responses, McpCaller::of(server, cx).principal);
    let given = match server.shared(cx) {
        None => look(server, cx, &params.task_id, |task: &mut Task| updated(task, client, responses))?,
        Some(shelf) => {
            let found = shelf.calls.find(SharedCallKind::Task, &principal, &params.task_id).await;
            let call = found.map_err(|error| approval::unavailable(&error))?.ok_or_else(unknown)?;
            match call.state {
                // No host remembers that it was answered. The ledger ignores a second answer.
                SharedCallState::Asks(question) => answered(question, client, responses),
                SharedCallState::Works | SharedCallState::Over(_) | SharedCallState::Lost => None,
            }
        }
    };
    match given {
        Some((question, answer)) => approval::give(server, &principal, &question, answer).await,
        None => Ok(()),
    }
}

/// Takes the step of an answer to the open approval request of a task. Returns the answer if it is to be recorded.
fn updated(task: &mut Task, client: ClientAbilities, responses: &InputResponses) -> Option<(Arc<Question>, Answer)> {
    let (question, answer) = answered(task.running.asking()?, client, responses)?;
    // Every other effect answers a request that waits for the call, and no request waits for the call of a task.
    task.running.step(SessionEvent::Updated(question, answer)).into_iter().find_map(|effect| match effect {
        SessionEffect::Record(question, answer) => Some((question, answer)),
        _ => None,
    })
}

/// Returns the answer in these responses to an approval request, if the client is asked about it.
fn answered(
    question: Arc<Question>,
    client: ClientAbilities,
    responses: &InputResponses,
) -> Option<(Arc<Question>, Answer)> {
    if !client.is_asked(&question) {
        return None;
    }
    let answer = approval::read(responses.get(&question.id)?, &question)?;
    Some((question, answer))
}

/// Serves `tasks/cancel`: ends the call, if it is not over.
///
/// # Errors
/// The caller has no such task, or the ledger that has the task cannot be written.
pub(crate) async fn cancel(
    server: &Server,
    params: &CancelTaskParams,
    cx: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    if let Some(shelf) = server.shared(cx) {
        let principal = McpCaller::of(server, cx).principal;
        let cancelled = shelf.calls.cancel(SharedCallKind::Task, &principal, &params.task_id).await;
        let is_known = cancelled.map_err(|error| approval::unavailable(&error))?;
        return if is_known { Ok(()) } else { Err(unknown()) };
    }
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
    server.inner().tasks.0.look(&McpCaller::of(server, cx).principal, id, look).ok_or_else(unknown)
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no such task, or it has expired", None)
}
