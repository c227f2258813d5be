//! The names of the host's own tools.

use portcullis_policy::{PluginName, ToolName};

/// The names that no plugin may have: those of the host's own tools, and `tools`, under which clients search them.
const RESERVED: [&str; 3] = ["done", "output", "tools"];

/// Whether a name is the host's own, which no plugin may have.
#[must_use]
pub fn is_reserved(name: &PluginName) -> bool {
    RESERVED.contains(&name.as_str())
}

/// The full name of the tool that explains calls. Its argument `tool` names another tool as the model knows it. An
/// embedder that gives models other names, or only some of the tools, has to translate or refuse that name.
pub const EXPLAIN_TOOL: &str = "tools.explain";

/// Whether a name is that of the tool that explains calls. It is none of [`crate::standard::Standard`], because it
/// takes the steps of another call.
pub(crate) fn explains(name: &ToolName) -> bool {
    EXPLAIN_TOOL.split_once('.') == Some((name.plugin.as_str(), name.tool.as_str()))
}
