//! Calls a tool for a client, and decides who answers the approval requests of the call.

use super::called::Called;
use super::client::ClientAbilities;
use super::running::StartingCall;
use super::spoken::Spoken;
use super::{drive, rounds};
use crate::call::named::Named;
use crate::server::Server;
use portcullis::Request;
use portcullis::policy::Unattended;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
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
    // Only a modern client is asked by a result, so only its request can be a retry.
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
