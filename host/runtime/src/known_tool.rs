//! Converts a tool to the form that the policy checks its rules against.

use crate::catalog::Tool;
use portcullis_definitions::schema;
use portcullis_policy::KnownTool;

/// Returns a tool in the form that the policy checks its rules against.
pub fn known(tool: &Tool) -> KnownTool<'_> {
    KnownTool {
        name: tool.name(),
        permissions: tool.permissions(),
        hints: tool.hints(),
        arguments: schema::closed_names(tool.schema()),
    }
}
