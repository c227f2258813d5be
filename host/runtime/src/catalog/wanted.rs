//! Selects the plugins that a host loads: all, or the few that one call needs.

use super::file;
use super::listing::ListedFile;
use crate::reserved;
use portcullis_policy::{Binding, PluginName, Policy};
use std::collections::BTreeSet;

/// The plugins that a host loads. `None` means all of them.
#[derive(Default)]
pub(super) struct Wanted {
    files: Option<BTreeSet<PluginName>>,
    servers: Option<BTreeSet<PluginName>>,
}

impl Wanted {
    /// Returns the plugins that a call of a tool needs: its own plugin, those whose tools it may call, and the files
    /// that a rule names together with one of them, so that the rule can be checked. If there is no such plugin,
    /// returns all files, so that the call's error can list similar tools. To start a server costs too much for either.
    pub(super) fn by_call(tool: &str, policy: &Policy, listed: &[ListedFile]) -> Self {
        let Ok(plugin) = PluginName::new(tool.split('.').next().unwrap_or_default()) else { return Self::default() };
        // An explanation can be about any tool, and a batch can call any.
        if tool.parse().is_ok_and(|name| reserved::explains(&name) || reserved::batches(&name)) {
            return Self::default();
        }
        let files = listed.iter().filter_map(|listed| file::plugin_name(&listed.file).ok());
        let installed: Vec<PluginName> = files.chain(policy.servers().cloned()).collect();
        let is_known = reserved::is_reserved(&plugin) || installed.contains(&plugin);
        let reached = called_by(plugin, policy, &installed);
        let named = || reached.iter().flat_map(|name| policy.named_with(name)).collect();
        Self { files: is_known.then(named), servers: Some(reached) }
    }

    /// Returns whether a server is started.
    pub(super) fn starts(&self, server: &PluginName) -> bool {
        self.servers.as_ref().is_none_or(|servers| servers.contains(server))
    }

    /// Removes the files that are not wanted from a list. Returns the names of their plugins.
    pub(super) fn leave_out(&self, listed: &mut Vec<ListedFile>) -> BTreeSet<PluginName> {
        let Some(wanted) = &self.files else { return BTreeSet::new() };
        let mut left_out = BTreeSet::new();
        listed.retain(|listed| match file::plugin_name(&listed.file) {
            Ok(name) if wanted.contains(&name) => true,
            Ok(name) => {
                left_out.insert(name);
                false
            }
            // No call and no rule can name it.
            Err(_) => false,
        });
        left_out
    }
}

/// Returns a plugin, and all plugins whose tools it may call, also through other plugins.
fn called_by(plugin: PluginName, policy: &Policy, installed: &[PluginName]) -> BTreeSet<PluginName> {
    let (mut reached, mut waiting) = (BTreeSet::from([plugin.clone()]), vec![plugin]);
    while let Some(calling) = waiting.pop() {
        for binding in policy.bindings(&calling).values() {
            let Binding::Tools(tools) = binding else { continue };
            let called = installed.iter().filter(|name| tools.covers_some_of(name));
            waiting.extend(called.filter(|name| reached.insert((*name).clone())).cloned());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_needs_the_plugins_that_its_tool_may_call_through_others() {
        let names = |text: &str| -> Vec<PluginName> { text.split(' ').map(|name| name.parse().unwrap()).collect() };
        let policy = "[plugin.a]\ntools.t = { tools = [\"b.*\"] }\n[plugin.b]\ntools.t = { tools = [\"{a,c}.x\"] }\n";
        let policy = Policy::parse(policy).unwrap();
        let reached = |plugin: &str| -> Vec<PluginName> {
            called_by(plugin.parse().unwrap(), &policy, &names("a b c d")).into_iter().collect()
        };
        assert_eq!(reached("a"), names("a b c"));
        assert_eq!(reached("b"), names("a b c"));
        assert_eq!(reached("c"), names("c"));
    }
}
