//! The tool that a request names, and the request to the host for it.

use crate::approval::ClientAbilities;
use crate::batched::BatchTargets;
use crate::caller::McpCaller;
use crate::explained::ExplainTarget;
use crate::progress::Voice;
use crate::server::Server;
use crate::tools::loading;
use portcullis::Request;
use portcullis::plugins::{Plugin, Tool};
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::sync::Arc;

/// The header with the trace of a request over HTTP.
const TRACE_HEADER: &str = "traceparent";

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
    /// The tools to call, if this is a call of `tools.batch`.
    batched: Option<BatchTargets>,
}

impl Named {
    /// Finds a tool by its listed name or by its full name.
    ///
    /// # Errors
    /// There is no controlling terminal.
    pub(crate) async fn find(
        server: &Server,
        params: &CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let listing = server.listing();
        let found = loading::find(server, &listing, &params.name, cx).await;
        let listed = found.ok_or_else(|| loading::unknown(server))?;
        let (plugin, tool) = (Arc::clone(&listed.plugin), Arc::clone(&listed.tool));
        let arguments = params.arguments.as_ref();
        let explained = ExplainTarget::of(server, (&listing, cx), &tool, arguments).await;
        let batched = BatchTargets::of(server, (&listing, cx), &tool, arguments).await;
        let voice = Voice::of(cx).map(Arc::new);
        Ok(Self { plugin, tool, caller: McpCaller::of(server, cx), voice, explained, batched })
    }

    /// Returns the request to the host. It takes the arguments, unless this request can be retried or is a retry: its
    /// state is bound to them.
    pub(crate) fn request(
        &self,
        server: &Server,
        params: &mut CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
    ) -> Request {
        let tool = self.tool.name().to_string();
        let is_bound = params.request_state.is_some() || ClientAbilities::of(&server.inner().options, cx).may_retry();
        let mut arguments = if is_bound { params.arguments.clone() } else { params.arguments.take() };
        if let Some(arguments) = &mut arguments {
            self.explained.iter().for_each(|explained| explained.name_in(arguments));
            self.batched.iter().for_each(|batched| batched.name_in(arguments));
        }
        let request = request(server, (tool, arguments), &self.caller, cx);
        let request = self.explained.iter().fold(request, |request, explained| explained.check(request));
        self.batched.iter().fold(request, |request, batched| batched.check(request))
    }
}

/// Returns the `traceparent` of the HTTP request, if there is one. That of the message itself counts first, because a
/// proxy may have set the header.
fn header_trace(cx: &RequestContext<RoleServer>) -> Option<&str> {
    let parts = cx.extensions.get::<http::request::Parts>()?;
    parts.headers.get(TRACE_HEADER)?.to_str().ok()
}

/// Returns a request to the host for a tool with these arguments. The host's strict parser has read the message with
/// them.
pub(super) fn request(
    server: &Server,
    (tool, arguments): (String, Option<JsonObject>),
    caller: &McpCaller,
    cx: &RequestContext<RoleServer>,
) -> Request {
    let mut request = Request::object(tool, arguments.unwrap_or_default())
        .principal(caller.principal.clone())
        .session(&caller.session);
    if let Some(trace) = cx.meta.get_traceparent().or_else(|| header_trace(cx)) {
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
