//! Enforces the permissions of the running tool, as a host does.

use std::cell::Cell;

use crate::{Definition, Failure, Permission};

/// The required and optional permissions of the running tool; none outside of a call, where everything is granted.
#[derive(Debug, Default)]
pub(super) struct Declared(Cell<Option<[&'static [Permission]; 2]>>);

impl Declared {
    /// Sets the permissions of a tool, or clears them.
    pub(super) fn set(&self, tool: Option<&Definition>) {
        self.0.set(tool.map(|tool| [tool.required, tool.optional]));
    }

    /// Returns whether the tool may only read its stores.
    pub(super) fn only_reads(&self) -> bool {
        self.has(Permission::Read) && !self.has(Permission::Write)
    }

    /// Refuses a handle unless the tool declares one of the permissions for it.
    pub(super) fn check(&self, any_of: &[Permission], kind: &str, key: &str) -> Result<(), Failure> {
        if any_of.iter().any(|permission| self.has(*permission)) {
            return Ok(());
        }
        let names: Vec<String> = any_of.iter().map(|permission| format!("`{}`", permission.name())).collect();
        let names = names.join(" or ");
        Err(Failure::denied(format!("the tool does not declare {names}, so it has no {kind} `{key}`")))
    }

    fn has(&self, permission: Permission) -> bool {
        self.0.get().is_none_or(|declared| declared.iter().any(|some| some.contains(&permission)))
    }
}
