//! One `tools/call`, from the client's request to its result.

pub(crate) mod named;

use crate::approval::{self, Called};
use crate::caller::McpCaller;
use crate::progress;
use crate::result;
use crate::server::Server;
use crate::tools::loading;
use named::{Named, request};
use portcullis::Request;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::pin::pin;
use tokio_util::sync::CancellationToken;

/// Calls a tool.
///
/// # Errors
/// There is no such tool, the `requestState` belongs to no waiting call, or the server is stopping.
pub(crate) async fn call(
    server: &Server,
    mut params: CallToolRequestParams,
    cx: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    server.stopping().admit()?;
    let named = match Named::find(server, &params, &cx).await {
        Ok(named) => named,
        Err(_) => match loading::tool(server, &params.name) {
            // Boxed, because the future of every request would have its size.
            Some(tool) => return Ok(Box::pin(refused(server, tool, &mut params, &cx)).await),
            // It may have become ready between the two lookups.
            None => Named::find(server, &params, &cx).await?,
        },
    };
    let request = named.request(server, &mut params, &cx);
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
            // `join` sends the last progress before the result, because no progress may follow the result. It is in a
            // box, because the future of every request would have its size.
            let told = async { tokio::join!(call, progress::follow(voice, events, &over)) };
            Box::pin(told).await.0
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
    params: &mut CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> CallToolResponse {
    let reply = server
        .inner()
        .host
        .call(request(server, (tool, params.arguments.take()), &McpCaller::of(server, cx), cx))
        .await;
    let shape = result::Shape::of(server, cx.protocol_version().as_ref());
    CallToolResponse::Complete(result::of(&reply, None, shape))
}

/// Makes a call, and cancels it if the client cancels or disconnects, or if the server stops. Waits for a cancelled
/// call to end, so that its audit entry is written before the request is forgotten.
async fn until_unwanted(
    server: &Server,
    request: Request,
    named: &Named,
    params: &CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Result<Called, ErrorData> {
    let unwanted = CancellationToken::new();
    if server.stopping().is_unwanted(cx) {
        unwanted.cancel();
    }
    let mut called = pin!(approval::call(server, request, named, params, cx, &unwanted));
    tokio::select! {
        // The call first: one that ends at once needs no look at the others.
        biased;
        called = &mut called => return called,
        () = server.stopping().unwanted(cx) => {}
    }
    unwanted.cancel();
    called.await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximum size of the future of a call, in bytes. The future of each request of a client has room for it. It was
    /// 8,464 before rare branches had boxes of their own, and half of that after it.
    const FUTURE_BYTES_MAX: usize = 5 * 1024;

    #[test]
    fn the_future_of_a_call_is_small() {
        type Context = RequestContext<RoleServer>;
        fn bytes<F>(_: impl FnOnce(&'static Server, CallToolRequestParams, Context) -> F) -> usize {
            size_of::<F>()
        }
        let bytes = bytes(call);
        assert!(bytes <= FUTURE_BYTES_MAX, "{bytes} bytes");
    }
}
