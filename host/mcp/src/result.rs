//! The reply of a call as a result of the protocol. What a tool wrote stays as it wrote it, in fields of its own: it is
//! data to the client, and never part of what the host says.

mod content;
mod meta;

use crate::resources;
use crate::server::Server;
use portcullis::plugins::Tool;
use portcullis::{Code, Output, Reply, wording};
use rmcp::model::{CallToolResult, ContentBlock, ProtocolVersion};
use serde_json::Value;

/// What the client can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Whether structured content may be other than an object.
    pub(crate) any_json: bool,
    /// Whether a kept output is linked to.
    pub(crate) resource_links: bool,
}

impl Shape {
    /// What a client of a version can take.
    pub(crate) fn of(server: &Server, version: Option<&ProtocolVersion>) -> Self {
        let any_json = version.is_some_and(|version| !version.has_initialize());
        Self { any_json, resource_links: server.inner().options.resource_links }
    }
}

/// The result of a reply. A failure of any kind is a result too: its text tells the model what would help.
pub(crate) fn of(reply: &Reply, tool: Option<&Tool>, shape: Shape) -> CallToolResult {
    let mut result = match &reply.output {
        Some(output) if reply.code == Code::Completed => completed(reply, output, shape),
        Some(_) | None => CallToolResult::error(vec![ContentBlock::text(wording::failure(&reply.message))]),
    };
    if let Some(reference) = &reply.reference
        && shape.resource_links
    {
        result.content.push(ContentBlock::ResourceLink(resources::link(reference, &reply.tool)));
    }
    if breaks_promise(&result, tool, shape) {
        // A client that holds the answer to its schema would take this for the tool's mistake and hide what it says.
        result.is_error = Some(true);
    }
    result.meta = Some(meta::of(reply));
    result
}

fn completed(reply: &Reply, output: &Output, shape: Shape) -> CallToolResult {
    match output {
        Output::Text(text) => CallToolResult::success(vec![ContentBlock::text(wording::answer(text))]),
        Output::Json(text) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text.clone())]);
            // Shaping has parsed it, so it is JSON.
            let value: Option<Value> = serde_json::from_str(text).ok();
            result.structured_content = value.filter(|value| shape.any_json || value.is_object());
            result
        }
        Output::Parts(parts) => CallToolResult::success(content::of(parts, &reply.id)),
    }
}

/// Whether the definition promises structured content and this has none: an answer that was too large and is cut.
fn breaks_promise(result: &CallToolResult, tool: Option<&Tool>, shape: Shape) -> bool {
    let promised = tool.and_then(Tool::output_schema).is_some_and(|schema| {
        shape.any_json || schema.document().get("type").and_then(Value::as_str) == Some("object")
    });
    promised && result.structured_content.is_none()
}
