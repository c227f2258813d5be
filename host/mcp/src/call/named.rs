//! A tool that a call names, and the request to the host for it.

use crate::caller::Caller;
use crate::explained::Explained;
use crate::progress::Voice;
use crate::server::Server;
use crate::tools::loading;
use portcullis::{Plugin, Request, Tool};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::sync::Arc;

/// A tool that was named, and who named it.
#[derive(Clone)]
pub(crate) struct Named {
    /// The plugin, kept while the call lasts.
    pub(crate) plugin: Arc<Plugin>,
    /// The tool.
    pub(crate) tool: Arc<Tool>,
    /// Who calls.
    pub(crate) caller: Caller,
    /// To say how far the call is, where the client wants to hear it.
    pub(crate) voice: Option<Arc<Voice>>,
    /// What it wants explained.
    explained: Option<Explained>,
}

impl Named {
    /// Finds a tool by the name that clients know it by, or by its full one.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn find(
        server: &Server,
        params: &CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let listing = server.listing();
        let listed = listing.find(&params.name).ok_or_else(|| loading::unknown(server))?;
        let (plugin, tool) = (Arc::clone(&listed.plugin), Arc::clone(&listed.tool));
        let explained = Explained::of(server, &listing, &tool, params.arguments.as_ref());
        Ok(Self { plugin, tool, caller: Caller::of(server, cx), voice: Voice::of(cx).map(Arc::new), explained })
    }

    /// The request to the host.
    pub(crate) fn request(&self, params: &CallToolRequestParams, cx: &RequestContext<RoleServer>) -> Request {
        let tool = self.tool.name().to_string();
        let Some(explained) = &self.explained else { return request(tool, &self.caller, params, cx) };
        let mut params = params.clone();
        if let Some(arguments) = &mut params.arguments {
            explained.name_in(arguments);
        }
        explained.check(request(tool, &self.caller, &params, cx))
    }
}

pub(super) fn request(
    tool: String,
    caller: &Caller,
    params: &CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Request {
    // A map of JSON values cannot fail to be written; were it to, the host would refuse no arguments.
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
    request
}
