//! The tool that a call of `tools.explain` names. Clients use the names that they know, and cannot name a tool that
//! they could not call.

use crate::server::Server;
use crate::tools::{ToolListing, is_named, loading};
use portcullis::plugins::{EXPLAIN_TOOL, Tool};
use portcullis::{Code, Request};
use rmcp::RoleServer;
use rmcp::model::JsonObject;
use rmcp::service::RequestContext;

/// The argument that names the tool.
const NAME: &str = "tool";

/// The tool that a call of `tools.explain` names.
#[derive(Clone)]
pub(crate) enum ExplainTarget {
    /// The full name of a known tool.
    Tool(String),
    /// Not a tool that this client could call. Holds the error message that a call of it would get.
    Unknown(String),
}

impl ExplainTarget {
    /// Returns the tool to explain, if `tool` is `tools.explain` and its arguments name one.
    pub(crate) async fn of(
        server: &Server,
        (listing, cx): (&ToolListing, &RequestContext<RoleServer>),
        tool: &Tool,
        arguments: Option<&JsonObject>,
    ) -> Option<Self> {
        if !is_named(tool, EXPLAIN_TOOL) {
            return None;
        }
        let name = arguments?.get(NAME)?.as_str()?;
        Some(loading::named(server, (listing, cx), name).await.map_or_else(Self::Unknown, Self::Tool))
    }

    /// Replaces the tool's name in the arguments with its full name.
    pub(crate) fn name_in(&self, arguments: &mut JsonObject) {
        if let Self::Tool(full) = self {
            arguments.insert(NAME.to_owned(), full.clone().into());
        }
    }

    /// Makes the host refuse the request if it names an unknown tool, as it would refuse a call of that tool.
    pub(crate) fn check(&self, request: Request) -> Request {
        match self {
            Self::Tool(_) => request,
            Self::Unknown(message) => request.refused(Code::UnknownTool, message),
        }
    }
}
