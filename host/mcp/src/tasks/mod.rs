//! Calls that go on after their request was answered: the tasks extension, for clients that declare it.
//!
//! A task belongs to the principal whose call it is, and to no connection: a client that goes away leaves it running.
//! It is lost with the process. What a client answers for its user counts in a task as it does elsewhere.

mod state;

use crate::approval::{self, At, Client, Running, Shelf};
use crate::call::Named;
use crate::caller::Caller;
use crate::result::Shape;
use crate::server::Server;
use portcullis::Question;
use portcullis::plugins::Tool;
use rmcp::model::{
    CancelTaskParams, CreateTaskResult, GetTaskParams, GetTaskResult, InputResponses, TaskStatus, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use state::{Base, State};
use std::sync::Arc;

/// The tasks of a server.
#[derive(Default)]
pub(crate) struct Tasks(Shelf<Task>);

/// A call that became a task.
struct Task {
    running: Running,
    tool: Arc<Tool>,
    base: Base,
}

/// Makes a task of a call. Gives the call back where there is no room for one more.
pub(crate) fn begin(server: &Server, named: &Named, running: Running) -> Result<CreateTaskResult, Running> {
    let base = Base::now(approval::lifetime(server, named));
    let since = running.stage().since;
    let task = Task { running, tool: Arc::clone(&named.tool), base: base.clone() };
    match server.inner().tasks.0.put(&named.caller.principal, task, base.lifetime) {
        Ok(id) => Ok(CreateTaskResult::new(base.task(&id, TaskStatus::Working, &since))),
        Err(task) => Err(task.running),
    }
}

/// `tasks/get`: how a task stands, and what came of it.
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
    let state = State::of(&server.inner().host, &stage.at, Client::of(server, cx), &tool, shape);
    Ok(GetTaskResult::new(state.detailed(base.task(&params.task_id, TaskStatus::Working, &stage.since))))
}

/// `tasks/update`: gives what the client's user answers, where a client's answers count. What answers no open question
/// is passed over, as the extension has it.
///
/// # Errors
/// The caller has no such task, or the answer cannot be kept.
pub(crate) async fn update(
    server: &Server,
    params: UpdateTaskParams,
    cx: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let client = Client::of(server, cx);
    let answered = |task: &Task| answered(task, client, &params.input_responses);
    let Some((question, answer)) = look(server, cx, &params.task_id, answered)? else { return Ok(()) };
    approval::give(server, &Caller::of(server, cx).principal, &question, answer).await
}

/// The open question of a task that these responses answer. It is not asked any more from now on.
fn answered(task: &Task, client: Client, responses: &InputResponses) -> Option<(Arc<Question>, portcullis::Answer)> {
    let At::Asking(question) = task.running.stage().at else { return None };
    if !client.is_asked(&question) {
        return None;
    }
    let answer = approval::read(responses.get(&question.id)?, &question)?;
    task.running.settle(&question);
    Some((question, answer))
}

/// `tasks/cancel`: ends the call, as far as it is not over.
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
    let found = server.inner().tasks.0.look(&Caller::of(server, cx).principal, id, look);
    found.ok_or_else(|| ErrorData::invalid_params("there is no such task, or its time is over", None))
}
