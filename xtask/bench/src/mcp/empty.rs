//! The floor: a server built with the same MCP library, whose tool does nothing.

use anyhow::Result;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

/// The tool's result.
pub(super) const ANSWER: &str = "done";

struct Empty;

fn tool(name: String) -> Tool {
    let mut schema = serde_json::Map::new();
    schema.insert("type".to_owned(), "object".into());
    Tool::new(name, "Does nothing.", schema)
}

impl ServerHandler for Empty {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("empty", "0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![tool("empty".to_owned())]))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Some(tool(name.to_owned()))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(ANSWER)]).into())
    }
}

/// Serves until the client closes its end.
pub(crate) fn serve() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let running = Empty.serve(stdio_pipes()).await?;
        running.waiting().await?;
        Ok(())
    })
}
