//! The tools that `portcullis list` lists.

use portcullis::OfferedTools;
use portcullis::plugins::{Catalog, Plugin, Tool};

/// The tools that the command lists.
pub(super) struct ListedTools {
    /// The tools of the toolset, whether or not their plugins hide them.
    pub(super) selected: OfferedTools,
    /// Those of them that a caller with the default principal is offered.
    pub(super) offered: OfferedTools,
}

impl ListedTools {
    /// Returns the tools in a catalog, by name.
    pub(super) fn tools<'a>(&'a self, catalog: &'a Catalog) -> impl Iterator<Item = (&'a Plugin, &'a Tool)> {
        catalog.plugins().flat_map(|plugin| self.tools_of(plugin).map(move |tool| (plugin, tool)))
    }

    pub(super) fn tools_of<'a>(&'a self, plugin: &'a Plugin) -> impl Iterator<Item = &'a Tool> {
        plugin.tools().filter(|tool| self.selected.contains(plugin, tool))
    }

    /// Returns the definition of a tool as a caller is offered it.
    pub(super) fn definition<'a>(&'a self, tool: &'a Tool) -> &'a Tool {
        self.offered.narrowed(tool).map_or(tool, |narrowed| narrowed)
    }
}
