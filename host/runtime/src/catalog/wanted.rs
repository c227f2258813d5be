//! Selects the plugins that a host loads: all, or the few that one call needs.

use super::file;
use super::listing::ListedFile;
use crate::reserved;
use portcullis_policy::{PluginName, Policy};
use std::collections::BTreeSet;

/// The plugins that a host loads.
pub(super) enum Wanted {
    /// All plugins of the directory.
    All,
    /// The plugins with these names.
    Only(BTreeSet<PluginName>),
}

impl Wanted {
    /// Returns the plugins that a call of a tool needs: its own plugin, and those that a rule names together with it,
    /// so that the rule can be checked. If the directory has no such plugin, returns all, so that the call's error can
    /// list similar tools.
    pub(super) fn by_call(tool: &str, policy: &Policy, listed: &[ListedFile]) -> Self {
        let Ok(plugin) = PluginName::new(tool.split('.').next().unwrap_or_default()) else { return Self::All };
        let is_installed =
            || listed.iter().any(|listed| file::plugin_name(&listed.file).is_ok_and(|name| name == plugin));
        // An explanation can be about any tool.
        let explains = tool.parse().is_ok_and(|name| reserved::explains(&name));
        match !explains && (reserved::is_reserved(&plugin) || is_installed()) {
            true => Self::Only(policy.named_with(&plugin)),
            false => Self::All,
        }
    }

    /// Removes the files that are not wanted from a list. Returns the names of their plugins.
    pub(super) fn leave_out(&self, listed: &mut Vec<ListedFile>) -> BTreeSet<PluginName> {
        let Self::Only(wanted) = self else { return BTreeSet::new() };
        let mut left_out = BTreeSet::new();
        listed.retain(|listed| match file::plugin_name(&listed.file) {
            Ok(name) if wanted.contains(&name) => true,
            Ok(name) => {
                left_out.insert(name);
                false
            }
            Err(_) => false,
        });
        left_out
    }
}
