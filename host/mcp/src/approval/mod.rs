//! Calls and their approval requests: who answers a request, and how a client without elicitation gets its result.
//!
//! Every approval request and every answer goes through the host's ledger, where the first answer counts. This module
//! only decides how the client of a call is asked, if its answers count at all. It must not know what an answer
//! permits.

mod announce;
mod answer;
mod attended;
mod follow;
mod form;
mod rounds;
mod running;
mod shelf;

pub(crate) use answer::{give, read};
pub(crate) use form::{form, waits_elsewhere};
pub(crate) use rounds::Waiting;
pub(crate) use running::{At, Running};
pub(crate) use shelf::Shelf;

use crate::call::Named;
use crate::options::ClientAnswers;
use crate::server::Server;
use portcullis::policy::Unattended;
use portcullis::{Answer, Question, Reply, Request};
use rmcp::model::{CallToolRequestParams, CreateTaskResult, ElicitationCapability, InputRequiredResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the result of a call is kept for its client to fetch, counted from the latest time at which the call can
/// end. A client polls every second, but its user may be away for some minutes.
const RESULT_KEPT: Duration = Duration::from_secs(300);

/// The response to a `tools/call` request.
pub(crate) enum Called {
    /// The call is over.
    Reply(Reply),
    /// The client must ask its user and retry the request.
    InputRequired(InputRequiredResult),
    /// The call continues as a task.
    Task(CreateTaskResult),
}

/// The capabilities of the client of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    /// Its answers count, and it can show its user a form.
    pub(crate) answers: bool,
    /// It supports tasks.
    pub(crate) tasks: bool,
    /// It uses a protocol version without a handshake, in which a server can only ask by a result.
    pub(crate) modern: bool,
}

impl Client {
    /// Returns the capabilities that the client of this request declares, as far as the operator lets them count.
    pub(crate) fn of(server: &Server, cx: &RequestContext<RoleServer>) -> Self {
        let capabilities = cx.client_capabilities().unwrap_or_default();
        let counts = match server.inner().options.client_answers {
            ClientAnswers::Person => true,
            ClientAnswers::Nobody => false,
        };
        Self {
            answers: counts && capabilities.elicitation.as_ref().is_some_and(has_forms),
            tasks: capabilities.supports_tasks(),
            modern: cx.protocol_version().is_some_and(|version| !version.has_initialize()),
        }
    }

    /// Returns whether the client is asked: its answers count, and the form can show the whole request.
    pub(crate) fn is_asked(self, question: &Question) -> bool {
        self.answers && form::fits(question)
    }
}

/// Returns whether the client supports forms. A capability without a mode means forms, as in versions without modes.
fn has_forms(capability: &ElicitationCapability) -> bool {
    capability.form.is_some() || capability.url.is_none()
}

/// Calls a tool, or continues a call whose approval request this request answers. `unwanted` ends a call that runs in
/// its own task.
///
/// # Errors
/// The `requestState` of the request belongs to no waiting call.
pub(crate) async fn call(
    server: &Server,
    request: Request,
    named: &Named,
    params: &CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
    unwanted: &CancellationToken,
) -> Result<Called, ErrorData> {
    let client = Client::of(server, cx);
    let spoken = follow::Spoken { server, named, params, cx, client, unwanted };
    if client.modern && params.request_state.is_some() {
        return rounds::resume(&spoken).await;
    }
    let attendance = Attendance::of(server, client);
    let announced = attendance == Attendance::Announced;
    let request = match attendance {
        // A task waits for its approver as long as the policy permits.
        Attendance::Announced if !client.tasks => request.approval_wait(server.inner().options.approval_wait),
        // No early result if the embedder has its own approver.
        Attendance::Announced | Attendance::HostApprover => request,
        Attendance::Denied => request.unattended(Unattended::Deny),
    };
    if client.tasks || (client.modern && client.answers) {
        return spoken.follow(Running::start(server, request, client, announced), None).await;
    }
    Ok(Called::Reply(attended::call(&spoken, request, announced).await))
}

/// Who answers the approval requests of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attendance {
    /// This module gets the requests first: the client may answer, or they wait for the other channels.
    Announced,
    /// The embedder's own approver.
    HostApprover,
    /// No one, because the policy denies unattended requests. The embedder's choice of channel does not change that: a
    /// host that was opened for answers from elsewhere would wait for them.
    Denied,
}

impl Attendance {
    fn of(server: &Server, client: Client) -> Self {
        if client.answers {
            Self::Announced
        } else if server.inner().host.asks_its_own() {
            Self::HostApprover
        } else if denies_unattended(server) {
            Self::Denied
        } else {
            Self::Announced
        }
    }
}

/// Returns whether the policy denies an approval request that no client may answer.
fn denies_unattended(server: &Server) -> bool {
    match server.inner().host.policy().approvals().unattended {
        Unattended::Deny => true,
        Unattended::Pending => false,
    }
}

/// Returns the answer to an unattended approval request.
fn unattended() -> Answer {
    Answer::No { note: Some("no approver is connected".to_owned()) }
}

/// Returns the longest remaining time of a call of this tool, including the wait for an approver, and a while to fetch
/// the result.
pub(crate) fn lifetime(server: &Server, named: &Named) -> Duration {
    let limits = server.inner().host.policy().limits(named.plugin.name());
    limits.approval_time.saturating_add(limits.time).saturating_add(RESULT_KEPT)
}
