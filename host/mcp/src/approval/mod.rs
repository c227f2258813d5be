//! Calls and their approval requests: who answers a request, and how a client without elicitation gets its result.
//!
//! Every approval request and every answer goes through the host's ledger, where the first answer counts. This module
//! only decides how the client of a call is asked, if its answers count at all. It must not know what an answer
//! permits.

mod announce;
mod answer;
mod attended;
mod called;
mod client;
mod follow;
mod form;
mod lifetime;
mod resume;
mod rounds;
mod running;
mod shelf;
mod spoken;
mod stage;
mod unattended;
mod waiting;

pub(crate) use answer::{give, read};
pub(crate) use called::Called;
pub(crate) use client::ClientAbilities;
pub(crate) use form::{form, waits_elsewhere};
pub(crate) use lifetime::lifetime;
pub(crate) use running::RunningCall;
pub(crate) use shelf::TimedShelf;
pub(crate) use stage::CallPhase;
pub(crate) use waiting::ParkedCalls;

use crate::call::Named;
use crate::server::Server;
use portcullis::Request;
use portcullis::policy::Unattended;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use spoken::Spoken;
use tokio_util::sync::CancellationToken;
use unattended::denies_unattended;

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
    let client = ClientAbilities::of(&server.inner().options, cx);
    let spoken = Spoken { server, named, params, cx, client, unwanted };
    if client.modern && params.request_state.is_some() {
        return resume::resume(&spoken).await;
    }
    let attendance = RequestAttendance::of(server, client);
    let announced = attendance == RequestAttendance::Announced;
    let request = match attendance {
        // A task waits for its approver as long as the policy permits.
        RequestAttendance::Announced if !client.tasks => request.approval_wait(server.inner().options.approval_wait),
        // No early result if the embedder has its own approver.
        RequestAttendance::Announced | RequestAttendance::HostApprover => request,
        RequestAttendance::Denied => request.unattended(Unattended::Deny),
    };
    if client.tasks || (client.modern && client.answers) {
        return spoken.follow(RunningCall::start(&server.inner().host, request, client, announced), None).await;
    }
    Ok(Called::Reply(attended::call(&spoken, request, announced).await))
}

/// Who answers the approval requests of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestAttendance {
    /// This module gets the requests first: the client may answer, or they wait for the other channels.
    Announced,
    /// The embedder's own approver.
    HostApprover,
    /// No one, because the policy denies unattended requests. The embedder's choice of channel does not change that: a
    /// host that was opened for answers from elsewhere would wait for them.
    Denied,
}

impl RequestAttendance {
    fn of(server: &Server, client: ClientAbilities) -> Self {
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
