//! The tools that a client is offered, under the toolset of the server and the offers of the policy.

use crate::caller::McpCaller;
use crate::server::Server;
use portcullis::OfferedTools;
use portcullis::policy::Audience;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// Returns the tools that the client of a request is offered now.
pub(crate) async fn of(server: &Server, cx: &RequestContext<RoleServer>) -> OfferedTools {
    let McpCaller { principal, session } = McpCaller::of(server, cx);
    let client = cx.client_info().map(|client| client.name);
    let toolset = server.inner().options.toolset.as_deref();
    let audience = Audience { client: client.as_deref(), toolset, ..Audience::new(&principal, &session) };
    // A reload may have removed the toolset. Then nothing of it is offered.
    server.inner().host.offered_tools(&audience).await.unwrap_or_else(|_| OfferedTools::none())
}
