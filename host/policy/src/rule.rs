//! One rule of a policy, and the pattern by which it names tools.
//!
//! It must not know how rules are weighed against each other.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::caller::Member;
use crate::decision::{Decision, RuleId};
use crate::glob::{Glob, GlobError};
use crate::hint::Hint;
use crate::layer::Trust;
use crate::matcher::{Reading, When};
use crate::name::{LocalName, NameError, PluginName, ToolName, is_name_byte};
use crate::permission::{Permission, Permissions};
use crate::question::Question;
use crate::subject::Subject;

/// The longest reason that a rule may give, in bytes: a reply and an approval show all of it.
pub const REASON_BYTES: usize = 1000;

/// One rule of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Which rule of the file this is.
    pub id: RuleId,
    /// The tools it speaks of.
    pub tool: ToolPattern,
    /// The one permission it speaks of; without one it speaks of the whole call.
    pub permission: Option<Permission>,
    /// The claim of a tool's author on which it rests. Such a rule never widens: it is no allow, and as an ask it lifts
    /// no deny.
    pub hint: Option<Hint>,
    /// Whom it speaks of.
    pub(crate) subject: Subject,
    /// The arguments it speaks of; without any it speaks of all.
    pub when: Option<When>,
    /// What it says.
    pub decision: Decision,
    /// Why, in the words of whoever wrote the policy.
    pub reason: Option<Arc<str>>,
    /// What a verdict says: the reason, or else a sentence that names the rule.
    pub(crate) explanation: Arc<str>,
    /// Whether it may widen.
    pub(crate) trust: Trust,
}

/// A call as one rule sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) member: Member<'a>,
    /// None where the question is about a resource.
    pub(crate) arguments: Option<&'a Map<String, Value>>,
}

/// How far a rule speaks of the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It does not.
    None,
    /// Only if it is read widely: it can stop a call but lift nothing.
    Wide,
    /// It does.
    Full,
}

impl Rule {
    /// Whether the rule speaks of the tool and the caller of a question, or of somebody on whose behalf the caller is
    /// there, with some arguments at least.
    pub fn may_speak(&self, question: &Question<'_>) -> bool {
        let open = |member| self.subject.matches(&member, Reading::Wide) && !self.waits();
        self.concerns(question.tool, question.permissions, question.hints) && question.caller.members().any(open)
    }

    /// Whom the rule speaks of, as the policy spells it; nothing where it speaks of everybody.
    pub fn subject_text(&self) -> Option<String> {
        (self.subject != Subject::default()).then(|| self.subject.to_string())
    }

    /// Whether the rule speaks of this tool with one of these permissions and these hints.
    pub(crate) fn concerns(&self, tool: &ToolName, permissions: Permissions, hints: &[Hint]) -> bool {
        self.permission.is_none_or(|permission| permissions.contains(permission))
            && self.hint.is_none_or(|hint| hints.contains(&hint))
            && self.tool.matches(tool)
    }

    /// Whether the rule speaks of every tool that a plugin could have.
    pub(crate) fn concerns_all_of(&self, plugin: &PluginName) -> bool {
        self.permission.is_none() && self.hint.is_none() && self.tool.matches_all_of(plugin)
    }

    /// How far the rule speaks of the call.
    pub(crate) fn reach(&self, asked: &Asked<'_>) -> Reach {
        if self.waits() {
            return Reach::None;
        }
        match self.reach_if_trusted(asked) {
            Reach::Full if self.decision == Decision::Ask && !self.may_lift() => Reach::Wide,
            reach => reach,
        }
    }

    /// How far the rule would speak of the call if the person trusted the project that brought it.
    pub(crate) fn reach_if_trusted(&self, asked: &Asked<'_>) -> Reach {
        let matches = |reading| self.matches(asked, reading);
        match self.decision {
            Decision::Allow if matches(Reading::Exact) => Reach::Full,
            Decision::Allow => Reach::None,
            Decision::Deny if matches(Reading::Wide) => Reach::Full,
            Decision::Deny => Reach::None,
            Decision::Ask if !matches(Reading::Wide) => Reach::None,
            Decision::Ask if matches(Reading::Exact) => Reach::Full,
            Decision::Ask => Reach::Wide,
        }
    }

    /// Whether it says nothing until the person trusts the project that brought it.
    pub(crate) fn waits(&self) -> bool {
        self.trust == Trust::Untrusted && self.decision == Decision::Allow
    }

    /// Whether it denies every call of its tools, for every caller and all arguments.
    pub(crate) fn denies_everything(&self) -> bool {
        self.decision == Decision::Deny && self.when.is_none() && self.subject == Subject::default()
    }

    /// Whether it may lift a deny: neither an untrusted project nor a plugin's claim of itself does.
    pub(crate) fn may_lift(&self) -> bool {
        self.trust == Trust::Trusted && self.hint.is_none()
    }

    fn matches(&self, asked: &Asked<'_>, reading: Reading) -> bool {
        self.subject.matches(&asked.member, reading)
            && match (&self.when, asked.arguments) {
                (None, _) => true,
                (Some(when), Some(arguments)) => when.matches(arguments, reading),
                (Some(_), None) => false,
            }
    }
}

/// Which tools a rule speaks of: a pattern for the plugin and one for the tool, with a dot between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPattern {
    plugin: Glob,
    tool: Glob,
}

/// Why a text is no tool pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolPatternError {
    /// There is no dot, or more than one.
    #[error("the pattern does not have exactly one dot")]
    Dots,
    /// There is a character that is in no name and has no meaning in a pattern, so that the rule would never match.
    #[error("the pattern holds a character that no tool's name has")]
    Character,
    /// There is a `**`.
    #[error("`**` has no meaning in a tool's name")]
    Depth,
    /// One side is a text that no name is, so that the rule would never match.
    #[error(transparent)]
    Name(#[from] NameError),
    /// One side is no pattern.
    #[error(transparent)]
    Glob(#[from] GlobError),
}

impl ToolPatternError {
    /// What to write instead.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Dots => "write `plugin.tool`; `*.*` stands for every tool and `files.*` for every tool of a plugin",
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
    /// Reads a pattern such as `files.read`, `files.*` or `*.{read,list}`.
    ///
    /// # Errors
    ///
    /// When it is no pattern, or one that could not match any tool's name.
    pub fn new(text: &str) -> Result<Self, ToolPatternError> {
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

    /// Whether the pattern stands for `tool`.
    pub fn matches(&self, tool: &ToolName) -> bool {
        self.plugin.matches(tool.plugin.as_str()) && self.tool.matches(tool.tool.as_str())
    }

    /// Whether the pattern stands for some tool that a plugin could have.
    pub(crate) fn matches_some_of(&self, plugin: &PluginName) -> bool {
        self.plugin.matches(plugin.as_str())
    }

    /// Whether the pattern stands for every tool that a plugin could have. A pattern that does so in a way other than
    /// `*` is not seen.
    pub(crate) fn matches_all_of(&self, plugin: &PluginName) -> bool {
        self.matches_some_of(plugin) && self.tool.as_str() == "*"
    }

    /// Whether the plugins that the pattern spells out are all that it stands for.
    pub(crate) fn names_every_plugin(&self) -> bool {
        self.plugin.single_segments().all(|literal| literal.is_some())
    }

    /// The plugins that the pattern spells out, as opposed to those that it only stands for.
    pub fn named_plugins(&self) -> impl Iterator<Item = PluginName> {
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
