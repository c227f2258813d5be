//! Tools of a server that the server describes differently than was accepted.

use crate::valid_call::ValidCall;

impl ValidCall {
    /// Returns why a tool of a server is held, if it is: the server describes it differently than was accepted.
    pub(super) fn held(&self) -> Option<String> {
        let name = self.tool.name();
        let difference = self.plugin.held_tool(&name.tool)?;
        let accept = format!("`portcullis accept {}` accepts it", name.plugin);
        Some(format!("the server describes the tool differently than was accepted ({accept}): {difference}"))
    }
}
