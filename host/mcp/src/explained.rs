//! The tool that a call of `tools.explain` names: by the name that the client knows, and none that it could not call.

use crate::server::Server;
use crate::tools::{Listing, loading};
use portcullis::plugins::{EXPLAIN_TOOL, Tool};
use portcullis::{Code, Request};
use rmcp::model::JsonObject;

/// The argument that names the tool.
const NAME: &str = "tool";

/// What a call wants explained.
#[derive(Clone)]
pub(crate) enum Explained {
    /// This tool, by its full name.
    Tool(String),
    /// No tool that this client could call. A call of it would get this message.
    Unknown(String),
}

impl Explained {
    /// Returns what a call of a tool wants explained, if it wants that.
    pub(crate) fn of(server: &Server, listing: &Listing, tool: &Tool, arguments: Option<&JsonObject>) -> Option<Self> {
        if tool.name().to_string() != EXPLAIN_TOOL {
            return None;
        }
        let name = arguments?.get(NAME)?.as_str()?;
        let listed = listing.find(name).map(|listed| listed.tool.name().to_string());
        Some(match listed.or_else(|| loading::tool(server, name)) {
            Some(full) => Self::Tool(full),
            None => Self::Unknown(loading::unknown(server).message.into_owned()),
        })
    }

    /// Names the tool in the arguments as the host knows it.
    pub(crate) fn name_in(&self, arguments: &mut JsonObject) {
        if let Self::Tool(full) = self {
            arguments.insert(NAME.to_owned(), full.clone().into());
        }
    }

    /// Has the host refuse a call that wants an unknown tool explained, as it would refuse a call of that.
    pub(crate) fn check(&self, request: Request) -> Request {
        match self {
            Self::Tool(_) => request,
            Self::Unknown(message) => request.refused(Code::UnknownTool, message),
        }
    }
}
