//! Lists the tools of a server, page by page.

use crate::error::ServerError;
use crate::exchange::OpenExchange;
use crate::limits::ServerLimits;
use crate::pages::{PageCursor, json_bytes};
use crate::tool::ServerTool;
use crate::traffic::Traffic;
use portcullis_definitions::text;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, ListToolsResult, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::Peer;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::time::timeout;

/// Maximum length of a tool's name in an error, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// Lists all tools.
pub(crate) async fn list_tools(
    peer: &Peer<RoleClient>,
    traffic: &Arc<Traffic>,
    limits: &ServerLimits,
) -> Result<Vec<ServerTool>, ServerError> {
    timeout(limits.list_time, list_pages(peer, traffic, limits)).await.unwrap_or(Err(ServerError::Timeout))
}

async fn list_pages(
    peer: &Peer<RoleClient>,
    traffic: &Arc<Traffic>,
    limits: &ServerLimits,
) -> Result<Vec<ServerTool>, ServerError> {
    let (mut listed, mut cursor) = (ListedTools::new(limits), PageCursor::default());
    loop {
        let page = list_page(peer, traffic, cursor.params()).await?;
        page.tools.into_iter().try_for_each(|tool| listed.add(tool))?;
        if !cursor.advance(page.next_cursor, limits)? {
            return Ok(listed.tools);
        }
    }
}

async fn list_page(
    peer: &Peer<RoleClient>,
    traffic: &Arc<Traffic>,
    params: PaginatedRequestParams,
) -> Result<ListToolsResult, ServerError> {
    // The library's own method answers from a cache, also with an old list after an error.
    let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
    match OpenExchange::begin(peer, traffic, request).await?.answer().await? {
        ServerResult::ListToolsResult(page) => Ok(page),
        _ => Err(ServerError::Malformed { problem: "it is no list of tools".to_owned() }),
    }
}

/// The tools that are listed so far.
struct ListedTools<'a> {
    limits: &'a ServerLimits,
    tools: Vec<ServerTool>,
    names: HashSet<String>,
    bytes: usize,
}

impl<'a> ListedTools<'a> {
    fn new(limits: &'a ServerLimits) -> Self {
        Self { limits, tools: Vec::new(), names: HashSet::new(), bytes: 0 }
    }

    fn add(&mut self, tool: Tool) -> Result<(), ServerError> {
        let tool = ServerTool::from(tool);
        if self.tools.len() == self.limits.tools {
            return Err(ServerError::ListTooLong { what: "tools", max: self.limits.tools });
        }
        self.bytes += json_bytes(&tool);
        if self.bytes > self.limits.definitions_bytes {
            return Err(ServerError::ListTooLong { what: "bytes of definitions", max: self.limits.definitions_bytes });
        }
        if !self.names.insert(tool.name.clone()) {
            return Err(ServerError::RepeatedTool { name: text::cut(&tool.name, NAME_BYTES_MAX).to_owned() });
        }
        self.tools.push(tool);
        Ok(())
    }
}
