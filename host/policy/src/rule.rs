//! A rule of a policy, and its pattern for tools.
//!
//! This file must not know how rules are combined.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::caller::Member;
use crate::decision::{Decision, RuleId};
use crate::glob::{Glob, GlobError};
use crate::hint::Hint;
use crate::layer::Trust;
use crate::matcher::{RuleReading, When};
use crate::name::{LocalName, NameError, PluginName, ToolName, is_name_byte};
use crate::permission::{Permission, Permissions};
use crate::question::Question;
use crate::subject::RuleSubject;

/// Maximum bytes of a rule's reason. Replies and approval requests show all of it.
pub const REASON_BYTES: usize = 1000;

/// A rule of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The rule's number, line and layer.
    pub id: RuleId,
    /// The tools that it applies to.
    pub tool: ToolPattern,
    /// The permission that it applies to. Without one, it applies to the whole call.
    pub permission: Option<Permission>,
    /// The hint that a tool must have. Such a rule never widens: it cannot be an allow rule, and as an ask rule it
    /// cannot lift a deny.
    pub hint: Option<Hint>,
    /// The callers that it applies to.
    pub(crate) subject: RuleSubject,
    /// The arguments that it applies to. Without any, it applies to all.
    pub when: Option<When>,
    /// The decision.
    pub decision: Decision,
    /// Whether it wins over the ask rules of its own layer, for the calls that it matches. Only an allow rule does.
    pub over_ask: bool,
    /// The reason that the policy gives.
    pub reason: Option<Arc<str>>,
    /// The reason of a verdict: the rule's reason, or a sentence that names the rule.
    pub(crate) explanation: Arc<str>,
    /// Whether the rule may widen what is allowed.
    pub(crate) trust: Trust,
}

/// A call as one rule sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleQuestion<'a> {
    pub(crate) member: Member<'a>,
    /// None for a question about a resource.
    pub(crate) arguments: Option<&'a Map<String, Value>>,
}

/// How well a rule matches the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleReach {
    /// It does not match.
    None,
    /// It matches only widely, so it can restrict a call but not lift a deny.
    Wide,
    /// It matches fully.
    Full,
}

impl Rule {
    /// Returns whether the rule applies to the tool and to some member of the caller's lineage, for some arguments.
    pub fn may_speak(&self, question: &Question<'_>) -> bool {
        let open = |member| self.subject.matches(&member, RuleReading::Wide) && !self.waits();
        self.concerns(question.tool, question.permissions, question.hints) && question.caller.members().any(open)
    }

    /// Returns the callers that the rule applies to, as the policy spells them, or none if it applies to everyone.
    pub fn subject_text(&self) -> Option<String> {
        (self.subject != RuleSubject::default()).then(|| self.subject.to_string())
    }

    /// Returns whether the rule applies to this tool with these permissions and hints.
    pub(crate) fn concerns(&self, tool: &ToolName, permissions: Permissions, hints: &[Hint]) -> bool {
        self.permission.is_none_or(|permission| permissions.contains(permission))
            && self.hint.is_none_or(|hint| hints.contains(&hint))
            && self.tool.matches(tool)
    }

    /// Returns whether the rule applies to every tool that a plugin could have.
    pub(crate) fn concerns_all_of(&self, plugin: &PluginName) -> bool {
        self.permission.is_none() && self.hint.is_none() && self.tool.matches_all_of(plugin)
    }

    /// Returns how well the rule matches the call.
    pub(crate) fn reach(&self, asked: &RuleQuestion<'_>) -> RuleReach {
        if self.waits() {
            return RuleReach::None;
        }
        match self.reach_if_trusted(asked) {
            // Such a rule may stop a call, but must not turn a deny into an approval request.
            RuleReach::Full if self.decision == Decision::Ask && !self.may_lift() => RuleReach::Wide,
            reach => reach,
        }
    }

    /// Returns how well the rule would match the call if its project were trusted.
    pub(crate) fn reach_if_trusted(&self, asked: &RuleQuestion<'_>) -> RuleReach {
        let matches = |reading| self.matches(asked, reading);
        match self.decision {
            Decision::Allow if matches(RuleReading::Exact) => RuleReach::Full,
            Decision::Allow => RuleReach::None,
            Decision::Deny if matches(RuleReading::Wide) => RuleReach::Full,
            Decision::Deny => RuleReach::None,
            // The wide reading first: what matches exactly also matches widely.
            Decision::Ask if !matches(RuleReading::Wide) => RuleReach::None,
            Decision::Ask if matches(RuleReading::Exact) => RuleReach::Full,
            Decision::Ask => RuleReach::Wide,
        }
    }

    /// Returns whether the rule has no effect until its project is trusted.
    pub(crate) fn waits(&self) -> bool {
        self.trust == Trust::Untrusted && self.decision == Decision::Allow
    }

    /// Returns whether it denies every call of its tools, for every caller and all arguments.
    pub(crate) fn denies_everything(&self) -> bool {
        // A `permission` does not matter: one denied permission of a tool denies its calls.
        self.decision == Decision::Deny && self.when.is_none() && self.subject == RuleSubject::default()
    }

    /// Returns whether it may lift a deny. A rule of an untrusted project or with a hint may not.
    pub(crate) fn may_lift(&self) -> bool {
        self.trust == Trust::Trusted && self.hint.is_none()
    }

    fn matches(&self, asked: &RuleQuestion<'_>, reading: RuleReading) -> bool {
        self.subject.matches(&asked.member, reading)
            && match (&self.when, asked.arguments) {
                (None, _) => true,
                (Some(when), Some(arguments)) => when.matches(arguments, reading),
                (Some(_), None) => false,
            }
    }
}

/// A pattern for tools: one for the plugin and one for the tool, separated by a dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPattern {
    plugin: Glob,
    tool: Glob,
}

/// Why a text is not a tool pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolPatternError {
    /// It has no dot, or more than one.
    #[error("the pattern must have exactly one dot")]
    Dots,
    /// It contains a character that occurs in no name and has no meaning in a pattern. The rule would never match.
    #[error("the pattern contains a character that no tool's name has")]
    Character,
    /// It contains `**`.
    #[error("`**` has no meaning in a tool's name")]
    Depth,
    /// One side is a literal text that is not a valid name. The rule would never match.
    #[error(transparent)]
    Name(#[from] NameError),
    /// One side is not a valid pattern.
    #[error(transparent)]
    Glob(#[from] GlobError),
}

impl ToolPatternError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Dots => "write `plugin.tool`; `*.*` matches every tool and `files.*` every tool of a plugin",
            Self::Character => {
                "use lower-case letters, digits, `-` and `_`, and for patterns `*`, `?`, `[a-z]`, `{a,b}`"
            }
            Self::Depth => "write `*`",
            Self::Name(error) => error.remedy(),
            Self::Glob(error) => error.remedy(),
        }
    }
}

impl ToolPattern {
    /// Parses a pattern such as `files.read`, `files.*` or `*.{read,list}`.
    ///
    /// # Errors
    ///
    /// The text is not a pattern, or could not match the name of any tool.
    pub fn new(text: &str) -> Result<Self, ToolPatternError> {
        // No backslash either, because no name has a character that needs an escape.
        if !text.bytes().all(|byte| is_name_byte(byte) || b".*?[]{},!".contains(&byte)) {
            return Err(ToolPatternError::Character);
        }
        if text.contains("**") {
            return Err(ToolPatternError::Depth);
        }
        let (plugin, tool) = text.split_once('.').ok_or(ToolPatternError::Dots)?;
        if tool.contains('.') {
            return Err(ToolPatternError::Dots);
        }
        let (plugin, tool) = (Glob::new(plugin)?, Glob::new(tool)?);
        for literal in plugin.single_segments().flatten() {
            PluginName::new(literal)?;
        }
        for literal in tool.single_segments().flatten() {
            LocalName::new(literal)?;
        }
        Ok(Self { plugin, tool })
    }

    /// Returns whether the pattern matches `tool`.
    pub fn matches(&self, tool: &ToolName) -> bool {
        self.plugin.matches(tool.plugin.as_str()) && self.tool.matches(tool.tool.as_str())
    }

    /// Returns whether the pattern matches some tool that a plugin could have.
    pub(crate) fn matches_some_of(&self, plugin: &PluginName) -> bool {
        self.plugin.matches(plugin.as_str())
    }

    /// Returns whether the pattern matches every tool that a plugin could have. It recognizes only `*`.
    pub(crate) fn matches_all_of(&self, plugin: &PluginName) -> bool {
        self.matches_some_of(plugin) && self.tool.as_str() == "*"
    }

    /// Returns whether the pattern spells out every plugin that it matches.
    pub fn names_every_plugin(&self) -> bool {
        self.plugin.single_segments().all(|literal| literal.is_some())
    }

    /// Returns the plugins that the pattern spells out, without those that only a wildcard matches.
    pub fn named_plugins(&self) -> impl Iterator<Item = PluginName> {
        // `new` has checked these names, so none is dropped.
        self.plugin.single_segments().flatten().filter_map(|literal| PluginName::new(literal).ok())
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.plugin, self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, tool: &str) -> bool {
        ToolPattern::new(pattern).unwrap().matches(&tool.parse().unwrap())
    }

    #[test]
    fn a_star_stays_on_its_side_of_the_dot() {
        let rows = [
            ("files.read", "files.read", true),
            ("files.read", "files.reads", false),
            ("files.*", "files.read", true),
            ("files.*", "files-two.read", false),
            ("files*.read", "files-two.read", true),
            ("*.*", "files.read", true),
            ("*.read", "files.read", true),
            ("*.read", "files.write", false),
            ("*s.r*", "files.read", true),
            ("{files,web}.{read,get}", "web.get", true),
            ("{files,web}.{read,get}", "web.write", false),
            ("file?.r[a-e]ad", "files.read", true),
            ("[!w]*.*", "web.get", false),
        ];
        for (pattern, tool, expected) in rows {
            assert_eq!(matches(pattern, tool), expected, "{pattern} on {tool}");
        }
    }

    #[test]
    fn patterns_that_could_match_no_tool_are_refused() {
        let texts = [
            "",
            "*",
            "files",
            ".",
            "files.",
            ".read",
            "a.b.c",
            "*.*.*",
            "Files.read",
            "files.Read",
            "files/read",
            "files. read",
            "files.**",
            "**.read",
            "files.\\*",
            "9files.read",
            "files.-x",
            "fil(es).read",
            "files:read",
            "files.réad",
            "{files.read,web.get}",
            "files.[a",
            "files.{a,b",
            "files.{a}",
            "files.[]",
            "files.[^a]",
            "files.\n",
            "files.{a,}",
        ];
        for text in texts {
            assert!(ToolPattern::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_spelt_out_plugins_are_named() {
        let named = |text| ToolPattern::new(text).unwrap().named_plugins().map(String::from).collect::<Vec<_>>();
        assert_eq!(named("files.*"), ["files"]);
        assert_eq!(named("{files,web}.*"), ["files", "web"]);
        assert_eq!(named("{files,w*}.*"), ["files"]);
        assert!(named("*.*").is_empty());
    }
}
