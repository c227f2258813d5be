//! The tools that a client is offered, under the toolset of the server and the offers of the policy.

use crate::caller::McpCaller;
use crate::server::Server;
use portcullis::OfferedTools;
use portcullis::plugins::Offer;
use portcullis::policy::Audience;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// Returns the tools that the client of a request is offered now.
pub(crate) async fn of(server: &Server, cx: &RequestContext<RoleServer>) -> OfferedTools {
    let client = OfferedClient::of(server, cx);
    // A reload may have removed the toolset. Then nothing of it is offered.
    server.inner().host.offered_tools(&client.audience(server)).await.unwrap_or_else(|_| OfferedTools::none())
}

/// Returns whether the client of a request is offered one tool now. No plugin other than the tool's own is asked. A
/// request that is no longer wanted does not wait for the plugin: the host then ends and records the call.
pub(crate) async fn contains(server: &Server, cx: &RequestContext<RoleServer>, offer: &Offer) -> bool {
    let client = OfferedClient::of(server, cx);
    let audience = client.audience(server);
    tokio::select! {
        biased;
        is_offered = server.inner().host.is_offered(offer, &audience) => is_offered,
        () = server.stopping().unwanted(cx) => true,
    }
}

/// The client of a request, as the offers of the policy and the plugins know it.
struct OfferedClient {
    caller: McpCaller,
    name: Option<String>,
}

impl OfferedClient {
    fn of(server: &Server, cx: &RequestContext<RoleServer>) -> Self {
        Self { caller: McpCaller::of(server, cx), name: cx.client_info().map(|client| client.name) }
    }

    fn audience<'a>(&'a self, server: &'a Server) -> Audience<'a> {
        let McpCaller { principal, session } = &self.caller;
        let toolset = server.inner().options.toolset.as_deref();
        Audience { client: self.name.as_deref(), toolset, ..Audience::new(principal, session) }
    }
}
