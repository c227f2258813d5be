//! What a policy binds to a tools key: the tools of other plugins that a guest may call, and how often.

use super::describe::list;
use super::kind::{BindingKind, KindFacts};
use super::limited::{BindingLimit, Limited};
use super::place::GrantPlaceKind;
use crate::amount::Unit;
use crate::name::{PluginName, ToolName};
use crate::pointer::Pointer;
use crate::rule::ToolPattern;

/// What is true of every set of tools.
pub(super) const FACTS: KindFacts = KindFacts {
    name: "tools",
    noun: "the tools",
    permissions: None,
    // A pattern, because the name of a tool has a dot.
    blank: "NAME.*",
    example: |pattern, _| format!("{{ tools = [\"{pattern}\"] }}"),
};

/// Default maximum of calls: a loop over the files of a small directory.
const CALLS: usize = 50;
/// A tool that needs more calls should be split into several calls of its caller.
const CALLS_CEILING: usize = 10_000;
/// Default depth: the tools that are called call no others.
const DEPTH: usize = 1;
/// Maximum depth. A suspended call keeps its memory, and a host reserves memory for a chain of this length. The longest
/// useful chain is a script that calls an agent, whose script calls a tool.
pub const TOOLS_DEPTH_CEILING: usize = 4;

/// The tools of other plugins that a guest may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsBinding {
    /// The tools. A tool that no pattern matches cannot be called.
    pub tools: Vec<ToolPattern>,
    /// Maximum calls in one call, with all calls that the called tools make.
    pub calls: u32,
    /// Maximum length of the chain of calls below the guest's call. At 1, a called tool cannot call another one.
    pub depth: u32,
}

impl ToolsBinding {
    /// Creates a binding with the default limits.
    pub(crate) fn new(tools: Vec<ToolPattern>) -> Self {
        let mut binding = Self { tools, calls: 0, depth: 0 };
        for &limit in ToolsLimit::ALL {
            binding.store(limit, limit.default());
        }
        binding
    }

    /// Returns whether the guest may call a tool, as far as this binding is concerned.
    pub fn covers(&self, tool: &ToolName) -> bool {
        self.tools.iter().any(|pattern| pattern.matches(tool))
    }

    /// Returns whether the guest may call some tool that a plugin could have.
    pub fn covers_some_of(&self, plugin: &PluginName) -> bool {
        self.tools.iter().any(|pattern| pattern.matches_some_of(plugin))
    }
}

/// One of the limits of a set of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolsLimit {
    Calls,
    Depth,
}

impl BindingLimit for ToolsLimit {
    const ALL: &'static [Self] = &[Self::Calls, Self::Depth];

    fn key(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Depth => "depth",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Calls | Self::Depth => Unit::Count,
        }
    }

    fn default(self) -> usize {
        match self {
            Self::Calls => CALLS,
            Self::Depth => DEPTH,
        }
    }

    fn ceiling(self) -> usize {
        match self {
            Self::Calls => CALLS_CEILING,
            Self::Depth => TOOLS_DEPTH_CEILING,
        }
    }
}

impl Limited for ToolsBinding {
    type Limit = ToolsLimit;

    fn store(&mut self, limit: ToolsLimit, admitted: usize) {
        // `admit` has checked the ceiling, so the amount always fits.
        let amount = u32::try_from(admitted).unwrap_or(u32::MAX);
        match limit {
            ToolsLimit::Calls => self.calls = amount,
            ToolsLimit::Depth => self.depth = amount,
        }
    }

    fn get(&self, limit: ToolsLimit) -> u64 {
        match limit {
            ToolsLimit::Calls => self.calls.into(),
            ToolsLimit::Depth => self.depth.into(),
        }
    }
}

impl BindingKind for ToolsBinding {
    fn describe(&self) -> Vec<String> {
        // With the limits, because an approver must see how much can follow from one approval.
        vec![
            format!("may call {}", list(&self.tools)),
            format!("up to {} calls", self.calls),
            format!("depth {}", self.depth),
        ]
    }

    fn narrow(&self) -> Option<&Pointer> {
        None
    }

    fn places(&self) -> Vec<(GrantPlaceKind, &str)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(patterns: &[&str]) -> ToolsBinding {
        ToolsBinding::new(patterns.iter().map(|pattern| ToolPattern::new(pattern).unwrap()).collect())
    }

    #[test]
    fn only_the_tools_that_a_pattern_matches_are_covered() {
        let covers = |binding: &ToolsBinding, tool: &str| binding.covers(&tool.parse().unwrap());
        let some = binding(&["files.read", "web.*"]);
        for (tool, covered) in [("files.read", true), ("web.fetch", true), ("files.write", false), ("webs.a", false)] {
            assert_eq!(covers(&some, tool), covered, "{tool}");
        }
        assert!(!covers(&binding(&[]), "files.read"));
        for (plugin, covered) in [("files", true), ("web", true), ("webs", false)] {
            assert_eq!(some.covers_some_of(&plugin.parse().unwrap()), covered, "{plugin}");
        }
    }

    #[test]
    fn each_limit_is_as_high_as_it_is_documented_and_never_off() {
        for (limit, default, ceiling) in [(ToolsLimit::Calls, 50, 10_000), (ToolsLimit::Depth, 1, 4)] {
            let mut tools = binding(&["a.*"]);
            assert_eq!(tools.get(limit), default, "{}", limit.key());
            assert!(tools.set(limit, 0).is_err() && tools.set(limit, ceiling + 1).is_err(), "{}", limit.key());
            assert_eq!(tools, binding(&["a.*"]));
            tools.set(limit, ceiling).unwrap();
            assert_eq!(tools.get(limit), ceiling, "{}", limit.key());
        }
    }

    #[test]
    fn a_description_names_every_pattern_and_both_limits() {
        let text = binding(&["files.read", "web.*"]).describe().join(", ");
        assert_eq!(text, "may call files.read web.*, up to 50 calls, depth 1");
    }
}
