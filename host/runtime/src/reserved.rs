//! The names of the built-in tools.

use portcullis_policy::{PluginName, ToolName};

/// Plugin names that are reserved for the built-in tools, and for the search of clients.
const RESERVED: [&str; 3] = ["done", "output", "tools"];

/// Returns whether a name is reserved for the built-in tools, so that no plugin may have it.
#[must_use]
pub fn is_reserved(name: &PluginName) -> bool {
    RESERVED.contains(&name.as_str())
}

/// The full name of the tool that explains calls. Its argument `tool` names another tool as the model knows it. An
/// embedder that gives models other names, or only some of the tools, has to translate or refuse that name.
pub const EXPLAIN_TOOL: &str = "tools.explain";

/// The plugin and the tool of [`EXPLAIN_TOOL`].
const EXPLAIN_TOOL_PARTS: (&str, &str) = ("tools", "explain");

/// The full name of the tool that makes several calls. Each item of its argument `calls` has a member `tool`, which
/// names another tool as the model knows it. An embedder that gives models other names, or only some of the tools, has
/// to translate or refuse these names ([`Request::batched`](crate::Request::batched)).
pub const BATCH_TOOL: &str = "tools.batch";

/// The plugin and the tool of [`BATCH_TOOL`].
const BATCH_TOOL_PARTS: (&str, &str) = ("tools", "batch");

/// Returns whether a name is that of the tool that makes several calls. It is not a [`crate::standard::Standard`] tool,
/// because its calls take all the steps of a call.
pub(crate) fn batches(name: &ToolName) -> bool {
    (name.plugin.as_str(), name.tool.as_str()) == BATCH_TOOL_PARTS
}

/// Returns whether a name is that of the tool that explains calls. It is not a [`crate::standard::Standard`] tool,
/// because it takes the steps of another call.
pub(crate) fn explains(name: &ToolName) -> bool {
    // Several steps of each call ask this, so it compares the parts instead of parsing the full name.
    (name.plugin.as_str(), name.tool.as_str()) == EXPLAIN_TOOL_PARTS
}
