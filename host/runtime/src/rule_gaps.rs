//! Finds rules on a path that tools bypass, for the current policy and plugins.

use crate::call::reaches_directories;
use crate::catalog::{Catalog, Plugin};
use crate::known_tool::known;
use portcullis_policy::{Binding, DependencyKey, DirectoryBinding, KnownTool, Policy, RuleGap};

/// Finds the rules, directory by directory.
pub(crate) fn rule_gaps(policy: &Policy, catalog: &Catalog) -> Vec<RuleGap> {
    catalog.plugins().flat_map(|plugin| gaps_of_plugin(policy, plugin)).collect()
}

fn gaps_of_plugin(policy: &Policy, plugin: &Plugin) -> Vec<RuleGap> {
    let known: Vec<KnownTool<'_>> = plugin.tools().filter(|tool| reaches_directories(tool)).map(known).collect();
    let gaps = |(key, binding)| policy.rule_gaps((plugin.name(), key), binding, &known);
    policy.bindings(plugin.name()).iter().filter_map(directory).flat_map(gaps).collect()
}

fn directory<'a>(
    (key, binding): (&'a DependencyKey, &'a Binding),
) -> Option<(&'a DependencyKey, &'a DirectoryBinding)> {
    let Binding::Directory(directory) = binding else { return None };
    Some((key, directory))
}
