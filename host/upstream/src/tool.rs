//! The definition of a tool, as a server gives it.

use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A tool of a server. All of it is untrusted and unchecked; only its size has a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerTool {
    /// The name.
    pub name: String,
    /// A short title for people.
    pub title: Option<String>,
    /// What the tool does, for a model.
    pub description: Option<String>,
    /// JSON Schema of the arguments: an object.
    pub input_schema: Value,
    /// JSON Schema of the structured output, if there is any: an object.
    pub output_schema: Option<Value>,
    /// What the server says about the tool.
    pub claims: ToolClaims,
}

/// What a server says about the effects of a tool: the annotations of the protocol. Nothing proves it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolClaims {
    /// Another title for people.
    pub title: Option<String>,
    /// The tool changes nothing.
    pub read_only: Option<bool>,
    /// The tool can destroy something.
    pub destructive: Option<bool>,
    /// A repeated call has no further effect.
    pub idempotent: Option<bool>,
    /// The tool reaches an open world of other systems.
    pub open_world: Option<bool>,
}

impl From<Tool> for ServerTool {
    fn from(tool: Tool) -> Self {
        let claims = tool.annotations.map(|annotations| ToolClaims {
            title: annotations.title,
            read_only: annotations.read_only_hint,
            destructive: annotations.destructive_hint,
            idempotent: annotations.idempotent_hint,
            open_world: annotations.open_world_hint,
        });
        Self {
            name: tool.name.into_owned(),
            title: tool.title,
            description: tool.description.map(Into::into),
            input_schema: Value::Object(Arc::unwrap_or_clone(tool.input_schema)),
            output_schema: tool.output_schema.map(|schema| Value::Object(Arc::unwrap_or_clone(schema))),
            claims: claims.unwrap_or_default(),
        }
    }
}
