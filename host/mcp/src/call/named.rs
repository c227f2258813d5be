//! The tool that a request names, and the request to the host for it.

use crate::caller::McpCaller;
use crate::explained::ExplainTarget;
use crate::offered;
use crate::progress::Voice;
use crate::server::Server;
use crate::tools::loading;
use portcullis::Request;
use portcullis::plugins::{Plugin, Tool};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::sync::Arc;

/// The tool that a request names, and its caller.
#[derive(Clone)]
pub(crate) struct Named {
    /// The plugin, kept alive for the duration of the call.
    pub(crate) plugin: Arc<Plugin>,
    /// The tool.
    pub(crate) tool: Arc<Tool>,
    /// The caller.
    pub(crate) caller: McpCaller,
    /// The progress channel to the client, if the request carried a progress token.
    pub(crate) voice: Option<Arc<Voice>>,
    /// The tool to explain, if this is a call of `tools.explain`.
    explained: Option<ExplainTarget>,
}

impl Named {
    /// Finds a tool by its listed name or by its full name.
    ///
    /// # Errors
    /// There is no controlling terminal.
    pub(crate) fn find(
        server: &Server,
        params: &CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let listing = server.listing();
        let offered = offered::of(server, cx);
        let listed = listing.find_offered(&params.name, &offered).ok_or_else(|| loading::unknown(server))?;
        let (plugin, tool) = (Arc::clone(&listed.plugin), Arc::clone(&listed.tool));
        let explained = ExplainTarget::of(server, &listing, &offered, &tool, params.arguments.as_ref());
        Ok(Self { plugin, tool, caller: McpCaller::of(server, cx), voice: Voice::of(cx).map(Arc::new), explained })
    }

    /// Returns the request to the host.
    pub(crate) fn request(
        &self,
        server: &Server,
        params: &CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
    ) -> Request {
        let tool = self.tool.name().to_string();
        let Some(explained) = &self.explained else { return request(server, tool, &self.caller, params, cx) };
        let mut params = params.clone();
        if let Some(arguments) = &mut params.arguments {
            explained.name_in(arguments);
        }
        explained.check(request(server, tool, &self.caller, &params, cx))
    }
}

pub(super) fn request(
    server: &Server,
    tool: String,
    caller: &McpCaller,
    params: &CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Request {
    // Serializing a map of JSON values cannot fail. If it did, the host would refuse the empty text.
    let arguments = params.arguments.as_ref().map(|arguments| serde_json::to_vec(arguments).unwrap_or_default());
    let mut request = Request::new(tool, arguments.unwrap_or_else(|| b"{}".to_vec()))
        .principal(caller.principal.clone())
        .session(&caller.session);
    if let Some(trace) = cx.meta.get_traceparent() {
        request = request.trace(trace);
    }
    if let Some(client) = cx.client_info() {
        request = request.agent(&client.name);
    }
    if let Some(toolset) = &server.inner().options.toolset {
        request = request.toolset(toolset);
    }
    request
}
