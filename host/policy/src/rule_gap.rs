//! Finds rules on a path that a tool bypasses: the tool is called with a directory above the path, or without the
//! argument, and recurses from there. The rule sees only the call. A mask is part of the handle and sees the files.
//!
//! This file must not know how plugins are loaded.

use std::fmt;

use crate::binding::DirectoryBinding;
use crate::dead_rule::KnownTool;
use crate::decision::{Decision, RuleId};
use crate::layer::Layer;
use crate::mask::Mask;
use crate::name::{DependencyKey, PluginName, ToolName};
use crate::pattern::RESOURCES;
use crate::permission::Permission;
use crate::policy::Policy;
use crate::rule::Rule;

/// A rule on a path that does not stop tools that search a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleGap {
    /// The rule.
    pub id: RuleId,
    /// The plugin whose tools reach the path.
    pub plugin: PluginName,
    /// The directory in which the path is.
    pub key: DependencyKey,
    /// The tools that reach it.
    pub tools: Vec<ToolName>,
    /// The masks to use instead, each as the patterns of the rule.
    pub masks: Vec<Mask>,
    /// Whether the masks protect from change. Otherwise they hide.
    pub read_only: bool,
}

impl RuleGap {
    /// Returns the line to add to the binding.
    pub fn remedy(&self) -> String {
        let kind = if self.read_only { "read-only" } else { "hidden" };
        let masks: Vec<String> =
            self.masks.iter().map(|mask| format!("\"{}\"", mask.as_str().escape_debug())).collect();
        format!("{kind} = [{}]", masks.join(", "))
    }
}

impl fmt::Display for RuleGap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<String> = self.tools.iter().map(|tool| format!("`{tool}`")).collect();
        write!(
            formatter,
            "{} does not keep {} from a path that the call does not name, such as one below `.`. \
             To keep the plugin from it, add {} to directory.{} of [plugin.{}]",
            self.id,
            tools.join(", "),
            self.remedy(),
            self.key,
            self.plugin
        )
    }
}

impl Policy {
    /// Returns the rules that stop a call because of its path but leave the path within reach of the same tools through
    /// `binding`. `tools` are the plugin's tools that can reach the handle of the binding. Built-in rules are ignored.
    pub fn rule_gaps(
        &self,
        (plugin, key): (&PluginName, &DependencyKey),
        binding: &DirectoryBinding,
        tools: &[KnownTool<'_>],
    ) -> Vec<RuleGap> {
        let written = self.rules.iter().filter(|rule| rule.id.layer != Layer::BuiltIn);
        let gap = |rule: &Rule| {
            let covered = covered(rule, tools);
            let read_only = is_about_writing(rule, &covered);
            let mut masks = masks_of(rule);
            masks.retain(|mask| !binding.covers_rule(mask, read_only));
            let found = !covered.is_empty() && !masks.is_empty();
            found.then(|| RuleGap {
                id: rule.id,
                plugin: plugin.clone(),
                key: key.clone(),
                tools: covered.iter().map(|tool| tool.name.clone()).collect(),
                masks,
                read_only,
            })
        };
        written.filter_map(gap).collect()
    }
}

/// Returns the tools whose calls the rule stops.
fn covered<'t, 'a>(rule: &Rule, tools: &'t [KnownTool<'a>]) -> Vec<&'t KnownTool<'a>> {
    match rule.decision {
        Decision::Allow => Vec::new(),
        Decision::Deny | Decision::Ask => {
            tools.iter().filter(|tool| rule.concerns(tool.name, tool.permissions, tool.hints)).collect()
        }
    }
}

/// Returns whether the rule concerns only changes. Another rule decides who may read the path.
fn is_about_writing(rule: &Rule, covered: &[&KnownTool<'_>]) -> bool {
    match rule.permission {
        Some(permission) => permission == Permission::Write,
        None => covered.iter().all(|tool| tool.permissions.contains(Permission::Write)),
    }
}

/// Returns the rule's path patterns as masks. A pattern that matches `.` stops a call that names the directory, and a
/// pattern of another file system does not concern the directory.
fn masks_of(rule: &Rule) -> Vec<Mask> {
    let places = rule.when.iter().flat_map(|when| when.patterns_of(&RESOURCES));
    // A pattern that covers the whole directory is no mask, so there is none to suggest.
    places.filter_map(|pattern| Mask::new(&pattern).ok()).collect()
}
