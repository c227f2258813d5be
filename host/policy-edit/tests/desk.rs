//! Policies and tools that the tests edit and ask about.

use portcullis_policy::{KnownTool, Layers, Permission, Permissions, ToolName};
use portcullis_policy_edit::{EditError, EditedPolicy, PolicyEdit, apply};

/// The names and permissions of the tools.
const TOOLS: [(&str, &[Permission]); 4] = [
    ("files.read", &[Permission::Read]),
    ("files.write", &[Permission::Read, Permission::Write]),
    ("web.fetch", &[Permission::Network]),
    ("hello.greet", &[]),
];

pub(crate) fn names() -> Vec<(ToolName, Permissions)> {
    TOOLS.iter().map(|(name, parts)| (name.parse().unwrap(), parts.iter().copied().collect())).collect()
}

pub(crate) fn tools(names: &[(ToolName, Permissions)]) -> Vec<KnownTool<'_>> {
    let tools = names.iter();
    tools
        .map(|(name, permissions)| KnownTool { name, permissions: *permissions, hints: &[], arguments: None })
        .collect()
}

/// Applies an edit to a user's policy without other layers, with the tools of the tests.
pub(crate) fn edit(text: &str, edit: &PolicyEdit) -> Result<EditedPolicy, EditError> {
    let names = names();
    apply(&Layers { user: Some(text), ..Layers::default() }, edit, &tools(&names))
}

/// Returns the changes as short texts.
pub(crate) fn changes(edited: &EditedPolicy) -> Vec<String> {
    let change = |change: &portcullis_policy_edit::DecisionChange| {
        let when = change.when.as_ref().map(|when| format!(" when {when}")).unwrap_or_default();
        format!("{} {}->{}{when}", change.tool, change.before, change.after)
    };
    edited.changes.iter().map(change).collect()
}
