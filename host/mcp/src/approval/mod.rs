//! Calls and their approval requests: who answers a request, and how a client without elicitation gets its result.
//!
//! Every approval request and every answer goes through the host's ledger, where the first answer counts. This module
//! only decides how the client of a call is asked, if its answers count at all. It must not know what an answer
//! permits. [`session`] is the table of these decisions, [`drive`] runs it, and every other file does one thing for it.

mod announce;
mod answer;
mod ask_by;
mod called;
mod client;
mod drive;
mod elicit;
mod form;
mod hold;
mod lifetime;
mod rounds;
mod running;
mod session;
mod shared;
mod shelf;
mod spoken;
mod stage;
mod waiting;

pub(crate) use answer::{give, read};
pub(crate) use called::Called;
pub(crate) use client::ClientAbilities;
pub(crate) use form::{form, waits_elsewhere};
pub(crate) use lifetime::lifetime;
pub(crate) use running::RunningCall;
use running::StartingCall;
pub(crate) use session::{LOST, SessionEffect, SessionEvent};
pub(crate) use shared::{SharedShelf, unavailable};
pub(crate) use shelf::TimedShelf;
pub(crate) use stage::{CallPhase, CallStage};
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

/// Calls a tool, or continues a call whose approval request this request answers. `unwanted` cancels the call.
///
/// # Errors
/// The `requestState` of the request belongs to no waiting call, or the ledger that has the call cannot be used.
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
        let (running, retried) = rounds::retry(&spoken).await?;
        return drive::drive(&spoken, running, Some(retried)).await;
    }
    let attendance = RequestAttendance::of(server, client);
    let request = match attendance {
        // A task waits for its approver as long as the policy permits.
        RequestAttendance::Announced if !client.tasks => request.approval_wait(server.inner().options.approval_wait),
        // No early result if the embedder has its own approver.
        RequestAttendance::Announced | RequestAttendance::HostApprover => request,
        RequestAttendance::Denied => request.unattended(Unattended::Deny),
    };
    let asked = (attendance == RequestAttendance::Announced).then_some(client);
    let mut starting = StartingCall::new(&server.inner().host, request, asked, unwanted);
    // The call of a client with tasks becomes one after a time.
    let called = match client.tasks {
        false => starting.wait_here(unwanted).await,
        true if server.inner().options.task_after.is_zero() => None,
        true => starting.run_here(),
    };
    if let Some(called) = called {
        return called;
    }
    drive::drive(&spoken, starting.run(), None).await
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
        let host = &server.inner().host;
        if client.answers {
            return Self::Announced;
        }
        if host.asks_its_own() {
            return Self::HostApprover;
        }
        match host.policy().approvals().unattended {
            Unattended::Deny => Self::Denied,
            Unattended::Pending => Self::Announced,
        }
    }
}
