//! Converts the reply of a call to an MCP result. A tool's output stays unchanged in its own fields. It is data to the
//! client, and never part of the host's own text.

mod content;
mod meta;

use crate::resources;
use crate::server::Server;
use portcullis::plugins::Tool;
use portcullis::{Code, Output, Reply, wording};
use rmcp::model::{CallToolResult, ContentBlock, ProtocolVersion};
use serde_json::Value;

/// The result features that a client supports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Whether structured content may be a JSON value other than an object.
    pub(crate) any_json: bool,
    /// Whether to link to a kept output.
    pub(crate) resource_links: bool,
}

impl Shape {
    /// Returns what a client of a protocol version supports.
    pub(crate) fn of(server: &Server, version: Option<&ProtocolVersion>) -> Self {
        let any_json = version.is_some_and(|version| !version.has_initialize());
        Self { any_json, resource_links: server.inner().options.resource_links }
    }
}

/// Returns the result of a reply. A failure of any kind is also a result, whose text tells the model what to do next.
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
        // A client that validates the output against the schema would report a tool error and hide the text. Results
        // marked as errors are not validated.
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
            // The host has already parsed it, so it is valid JSON.
            let value: Option<Value> = serde_json::from_str(text).ok();
            result.structured_content = value.filter(|value| shape.any_json || value.is_object());
            result
        }
        Output::Parts(parts) => CallToolResult::success(content::of(parts, &reply.id)),
    }
}

/// Returns whether the definition promises structured content and the result has none, as with a truncated answer.
fn breaks_promise(result: &CallToolResult, tool: Option<&Tool>, shape: Shape) -> bool {
    let promised = tool.and_then(Tool::output_schema).is_some_and(|schema| {
        shape.any_json || schema.document().get("type").and_then(Value::as_str) == Some("object")
    });
    promised && result.structured_content.is_none()
}
