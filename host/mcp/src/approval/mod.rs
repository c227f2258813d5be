//! Calls and the questions that they ask: who answers them, and how a client that cannot be asked back comes by its
//! answer.
//!
//! A question always stands in the host's ledger, and an answer always goes there, whoever gives it: the first one
//! counts. This decides only by which way the client of a call is asked, if it may answer at all. It must not know what
//! an answer permits.

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

/// How long the result of a call is kept for a client that was sent away and has not come back, counted from the
/// latest time at which the call can end: a client polls every second, and a person's coffee is shorter.
const RESULT_KEPT: Duration = Duration::from_secs(300);

/// How far a call came.
pub(crate) enum Called {
    /// It is over.
    Reply(Reply),
    /// The client's user is asked.
    InputRequired(InputRequiredResult),
    /// It goes on as a task.
    Task(CreateTaskResult),
}

/// What the client of one request can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    /// Its answers count, and it can ask its user by a form.
    pub(crate) answers: bool,
    /// It can wait for a task.
    pub(crate) tasks: bool,
    /// It speaks the protocol without a handshake, in which nobody asks it anything but by a result.
    pub(crate) modern: bool,
}

impl Client {
    /// What the client of this request can do: what it says of itself, as far as the operator lets that count.
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

    /// Whether it is asked this question: it can be, and what it is about can be shown whole.
    pub(crate) fn is_asked(self, question: &Question) -> bool {
        self.answers && form::fits(question)
    }
}

/// A capability without a mode means forms, as it did before there were modes.
fn has_forms(capability: &ElicitationCapability) -> bool {
    capability.form.is_some() || capability.url.is_none()
}

/// Calls a tool, or continues a call whose approval request this request answers. `unwanted` ends a call that has a
/// task of its own.
///
/// # Errors
/// The request goes on with a call that does not wait for it.
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
