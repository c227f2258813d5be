//! The tools that a caller is offered, under the toolsets and offers of a policy.
//!
//! The host's own tools are always offered: they reach only what the caller's own calls left behind.

use crate::catalog::{Catalog, Plugin, Tool};
use crate::origin::RequestOrigin;
use portcullis_policy::{Audience, Policy, ToolSelection, UnknownToolset};

/// The tools that a caller is offered. To the caller, other tools do not exist.
#[derive(Clone, Debug)]
pub struct OfferedTools {
    /// `None` offers only the host's own tools.
    selection: Option<ToolSelection>,
}

impl OfferedTools {
    /// Offers every tool.
    #[must_use]
    pub fn everything() -> Self {
        Self { selection: Some(ToolSelection::everything()) }
    }

    /// Offers only the host's own tools.
    #[must_use]
    pub fn none() -> Self {
        Self { selection: None }
    }

    pub(crate) fn of(policy: &Policy, audience: &Audience<'_>) -> Result<Self, UnknownToolset> {
        policy.offered(audience).map(|selection| Self { selection: Some(selection) })
    }

    pub(crate) fn of_toolset(policy: &Policy, toolset: &str) -> Result<Self, UnknownToolset> {
        policy.toolset(toolset).map(|selection| Self { selection: Some(selection) })
    }

    /// Returns what the caller of a request is offered. If its toolset no longer exists, that is nothing.
    pub(crate) fn to_caller(policy: &Policy, origin: &RequestOrigin) -> Self {
        Self::of(policy, &origin.audience()).unwrap_or_else(|_| Self::none())
    }

    /// Returns whether a tool is offered.
    pub fn contains(&self, plugin: &Plugin, tool: &Tool) -> bool {
        let is_selected = |selection: &ToolSelection| selection.contains(tool.name(), tool.permissions());
        plugin.is_standard() || self.selection.as_ref().is_some_and(is_selected)
    }

    /// Returns whether every tool is offered, whatever is installed.
    pub fn is_everything(&self) -> bool {
        self.selection.as_ref().is_some_and(ToolSelection::is_everything)
    }

    /// Returns the offered tools of a catalog, sorted by name.
    pub(crate) fn tools<'a>(&'a self, catalog: &'a Catalog) -> impl Iterator<Item = (&'a Plugin, &'a Tool)> {
        catalog.tools().filter(|(plugin, tool)| self.contains(plugin, tool))
    }
}
