//! Why an edit is refused.

use portcullis_policy::{DeadRule, Decision, DependencyKey, Layer, LayerError, PluginName, PolicyError, RuleId};

/// Why an edit is refused. The policy is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The policy has an error already.
    #[error("the policy has an error, so it cannot be edited: {0}; correct it first")]
    Invalid(LayerError),
    /// The result would not be a policy.
    #[error("the edit would make the policy invalid: {0}")]
    Refused(Box<PolicyError>),
    /// The result would change something else. This happens with unusual forms of TOML.
    #[error("the edit would also change {what}; edit the file by hand, and add:\n{lines}")]
    ChangesMore {
        /// What else would change.
        what: &'static str,
        /// The lines to add by hand.
        lines: String,
    },
    /// The rule could not match any call.
    #[error("the rule would have no effect: {}", .0.why)]
    Dead(Box<DeadRule>),
    /// Stricter rules decide every call of the rule.
    #[error("{}", overruled(*.wanted, .rules))]
    Overruled {
        /// The decision that the rule would have.
        wanted: Decision,
        /// The rules that win over it.
        rules: Vec<OverrulingRule>,
    },
    /// The key is bound already.
    #[error("line {line} already binds `{key}` of {plugin}; change the binding there")]
    Bound {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The line.
        line: usize,
    },
    /// The policy binds no such directory, so there is nothing to mask.
    #[error("the policy grants {plugin} no directory to hide places of; run `portcullis grant {plugin}` first")]
    NoDirectory {
        /// The plugin.
        plugin: PluginName,
    },
    /// The policy has a section for the name already.
    #[error("line {line} already has a section for {name}; choose another name, or change the section there")]
    Section {
        /// The name.
        name: PluginName,
        /// The line.
        line: usize,
    },
    /// The policy has no server of this name.
    #[error("the policy has no server {name}; `portcullis server list` shows its servers")]
    NoServer {
        /// The name.
        name: PluginName,
    },
    /// The server is not started from a package.
    #[error("the server {name} is not started from a package; change its section in the policy")]
    NoPackage {
        /// The name.
        name: PluginName,
    },
    /// The section is not written as a table of its own.
    #[error("line {line} writes the server {name} in a form that cannot be removed; remove it there")]
    ServerForm {
        /// The name.
        name: PluginName,
        /// The line.
        line: usize,
    },
    /// The policy is not paused.
    #[error("the policy is not paused, so there is nothing to resume")]
    NotPaused,
    /// Another layer pauses the policy.
    #[error("{layer} pauses the policy; remove `paused` from that file", layer = layer_phrase(*.layer))]
    PausedElsewhere {
        /// That layer.
        layer: Layer,
    },
}

/// A rule that wins over another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrulingRule {
    /// The rule.
    pub id: RuleId,
    /// Its decision.
    pub decision: Decision,
    /// Its tools, as the policy spells them.
    pub tool: String,
}

fn layer_phrase(layer: Layer) -> &'static str {
    match layer {
        Layer::BuiltIn => "the built-in policy",
        Layer::User => "the user's policy",
        Layer::Project => "the project's policy",
    }
}

fn overruled(wanted: Decision, rules: &[OverrulingRule]) -> String {
    let name = |rule: &OverrulingRule| format!("{} says {} for {}", rule.id, rule.decision, rule.tool);
    let names: Vec<String> = rules.iter().map(name).collect();
    let strictest = rules.iter().map(|rule| rule.decision).max().unwrap_or(Decision::Deny);
    format!(
        "{wanted} would have no effect, because {strictest} wins over {wanted}: {}; change or remove that rule first",
        names.join(", ")
    )
}
