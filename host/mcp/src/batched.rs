//! The tools that a call of `tools.batch` names. Clients use the names that they know, and cannot name a tool that they
//! could not call.

use crate::server::Server;
use crate::tools::{ShortName, ToolListing, is_named, loading, short_name};
use portcullis::plugins::{BATCH_TOOL, Tool};
use portcullis::{BatchedCall, Code, Request};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::RequestContext;
use serde_json::Value;

/// The argument with the calls.
const CALLS: &str = "calls";

/// The member of a call that names the tool.
const NAME: &str = "tool";

/// The names of `tools.batch` for clients. The host's own tools are listed under no other names.
const BATCH_NAMES: [&str; 2] = ["tools__batch", BATCH_TOOL];

/// Returns how many calls a request makes, for limits on the rate of calls: at least one.
pub(crate) fn calls_of(params: &CallToolRequestParams) -> u32 {
    let arguments = params.arguments.as_ref();
    let calls = match short_name(&params.name) {
        Some(ShortName::Call) => {
            // Otherwise a batch inside of `tools__call` would count as one call, whatever its size.
            let named = arguments.and_then(|arguments| arguments.get("name")).and_then(Value::as_str);
            let inner = arguments.and_then(|arguments| arguments.get("arguments"));
            named.filter(|name| is_batch(name)).and_then(|_| inner?.get(CALLS))
        }
        Some(ShortName::Search) => None,
        None => arguments.filter(|_| is_batch(&params.name)).and_then(|arguments| arguments.get(CALLS)),
    };
    let count = calls.and_then(Value::as_array).map_or(1, Vec::len);
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

fn is_batch(name: &str) -> bool {
    BATCH_NAMES.contains(&name)
}

/// The tools that the calls of a batch name, in their order.
#[derive(Clone)]
pub(crate) struct BatchTargets(Vec<BatchTarget>);

/// The tool that one call of a batch names.
#[derive(Clone)]
enum BatchTarget {
    /// A known tool: the name that the client knows, and the full name.
    Tool(String, String),
    /// Not a tool that this client could call. Holds the name, and the error message that a call of it would get.
    Unknown(String, String),
    /// The call names no tool, so the host refuses the batch.
    Malformed,
}

impl BatchTargets {
    /// Returns the tools of the calls, if `tool` is `tools.batch` and its arguments have calls.
    pub(crate) async fn of(
        server: &Server,
        (listing, cx): (&ToolListing, &RequestContext<RoleServer>),
        tool: &Tool,
        arguments: Option<&JsonObject>,
    ) -> Option<Self> {
        if !is_named(tool, BATCH_TOOL) {
            return None;
        }
        let mut targets = Vec::new();
        for call in arguments?.get(CALLS)?.as_array()? {
            targets.push(match call.get(NAME).and_then(Value::as_str) {
                None => BatchTarget::Malformed,
                Some(name) => match loading::named(server, (listing, cx), name).await {
                    Ok(full) => BatchTarget::Tool(name.to_owned(), full),
                    Err(message) => BatchTarget::Unknown(name.to_owned(), message),
                },
            });
        }
        Some(Self(targets))
    }

    /// Replaces the names in the arguments with full names.
    pub(crate) fn name_in(&self, arguments: &mut JsonObject) {
        let calls = arguments.get_mut(CALLS).and_then(Value::as_array_mut);
        for (call, target) in calls.into_iter().flatten().zip(&self.0) {
            if let BatchTarget::Tool(_, full) = target {
                call[NAME] = full.clone().into();
            }
        }
    }

    /// Makes the results use the client's names, and makes the host refuse each call of an unknown tool.
    pub(crate) fn check(&self, request: Request) -> Request {
        let known = |target: &BatchTarget| match target {
            BatchTarget::Tool(name, _) => BatchedCall::new(name),
            BatchTarget::Unknown(name, why) => BatchedCall::new(name).refused(Code::UnknownTool, why),
            BatchTarget::Malformed => BatchedCall::new(""),
        };
        request.batched(self.0.iter().map(known).collect::<Vec<_>>())
    }
}
