//! One `tools/call`: from what the client sent to what it gets.

use crate::approval::{self, Called};
use crate::caller::Caller;
use crate::explained::Explained;
use crate::progress::{self, Voice};
use crate::result;
use crate::server::Server;
use crate::tools::loading;
use portcullis::plugins::{Plugin, Tool};
use portcullis::{Cancellation, Request};
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::pin::pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

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

fn request(tool: String, caller: &Caller, params: &CallToolRequestParams, cx: &RequestContext<RoleServer>) -> Request {
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

/// Calls a tool.
///
/// # Errors
/// There is no such tool, the call goes on with one that does not wait for it, or the server is stopping.
pub(crate) async fn call(
    server: &Server,
    params: CallToolRequestParams,
    cx: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    server.stopping().admit()?;
    let named = match Named::find(server, &params, &cx) {
        Ok(named) => named,
        Err(_) => match loading::tool(server, &params.name) {
            Some(tool) => return Ok(refused(server, tool, &params, &cx).await),
            // It may have become ready between the two looks.
            None => Named::find(server, &params, &cx)?,
        },
    };
    let request = named.request(&params, &cx);
    let called = match &named.voice {
        None => until_unwanted(server, request, &named, &params, &cx).await,
        Some(voice) => {
            let (request, events) = request.watched();
            let over = CancellationToken::new();
            let call = async {
                let called = until_unwanted(server, request, &named, &params, &cx).await;
                over.cancel();
                called
            };
            // Told to its end, for nothing may be said of a call that is over.
            let (called, ()) = tokio::join!(call, progress::follow(voice, events, &over));
            called
        }
    };
    Ok(match called? {
        Called::Reply(reply) => {
            if let Some(error) = server.stopping().cut_off(&reply) {
                return Err(error);
            }
            let shape = result::Shape::of(server, cx.protocol_version().as_ref());
            CallToolResponse::Complete(result::of(&reply, Some(&named.tool), shape))
        }
        Called::InputRequired(required) => CallToolResponse::InputRequired(required),
        Called::Task(task) => CallToolResponse::Task(task),
    })
}

/// Calls a tool of a plugin that is being compiled. The host refuses and records the call.
async fn refused(
    server: &Server,
    tool: String,
    params: &CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> CallToolResponse {
    let reply = server.inner().host.call(request(tool, &Caller::of(server, cx), params, cx)).await;
    let shape = result::Shape::of(server, cx.protocol_version().as_ref());
    CallToolResponse::Complete(result::of(&reply, None, shape))
}

/// Makes a call, and cancels it when its client says so or is gone, or when the server stops. It is waited for all the
/// same: what it did until then is in the record before its request is forgotten.
async fn until_unwanted(
    server: &Server,
    request: Request,
    named: &Named,
    params: &CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Result<Called, ErrorData> {
    let cancellation = Cancellation::new();
    let request = request.cancellation(cancellation.clone());
    let unwanted = CancellationToken::new();
    let mut called = pin!(approval::call(server, request, named, params, cx, &unwanted));
    tokio::select! {
        called = &mut called => return called,
        () = cx.ct.cancelled() => {}
        () = server.stopping().late() => {}
    }
    // The one for a call that is waited for here, the other for a call with a task of its own.
    cancellation.cancel_at_once();
    unwanted.cancel();
    called.await
}
