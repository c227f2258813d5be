//! What an answer is bound to. An answer holds for exactly this plugin, this definition, these grants and this caller;
//! where one of them is another, the answer is none, and the next question says what changed.

use portcullis_policy::{Origin, Pattern, Permissions, Principal, ToolName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::concern::{Asker, Concern};
use crate::json;
use crate::ledger;
use crate::text::sha256;

/// Digits of a hash that are shown: enough to tell two versions of a plugin apart.
const HASH_DIGITS: usize = 12;

/// What an answer is bound to, the arguments left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Binding {
    /// What kind of question it answers.
    pub(crate) subject: String,
    pub(crate) tool: ToolName,
    pub(crate) plugin_sha256: String,
    pub(crate) definition_sha256: String,
    /// All that the tool declares, or the one that a running call asks for.
    pub(crate) permissions: Permissions,
    /// The handles the call gets, one line each, with the place that each leads to.
    pub(crate) grants: Vec<String>,
    pub(crate) principal: String,
    pub(crate) origin: String,
}

/// Which arguments, or which resource, an answer covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Coverage {
    /// Exactly those with this digest.
    Exact {
        /// Of the canonical form, in hexadecimal.
        sha256: String,
        /// Some of them, for a person to know them by; empty where the policy keeps no payloads.
        #[serde(default)]
        shown: String,
    },
    /// Those the pattern covers.
    Pattern(Pattern),
    /// The same as `covers`, for an approval of a call about which a reviewer or a hook asked too.
    Seen {
        /// Which arguments.
        covers: Box<Self>,
        /// The digests of what the approver saw them ask.
        concerns: Vec<String>,
    },
    /// A pattern that a reviewer or a hook proposed. It answers nobody else.
    Proposed {
        /// Who proposed it.
        asker: Asker,
        /// What it covers.
        pattern: Pattern,
    },
}

impl Coverage {
    /// Exactly the arguments of this canonical form.
    pub(crate) fn exact(canonical: &str, shown: String) -> Self {
        Self::Exact { sha256: sha256(canonical), shown }
    }

    /// Whether it covers arguments with this digest.
    pub(crate) fn covers(&self, arguments: &Map<String, Value>, arguments_sha256: &str) -> bool {
        match self {
            Self::Exact { sha256, .. } => sha256 == arguments_sha256,
            Self::Pattern(pattern) | Self::Proposed { pattern, .. } => pattern.covers(arguments),
            Self::Seen { covers, .. } => covers.covers(arguments, arguments_sha256),
        }
    }

    /// The same, as an approver gave it who saw what a reviewer or a hook asked.
    pub(crate) fn seeing(self, concerns: &[Concern]) -> Self {
        if concerns.is_empty() {
            return self;
        }
        Self::Seen { covers: Box::new(self), concerns: concerns.iter().map(Concern::digest).collect() }
    }

    /// Whether it answers what the policy asks about the arguments that it covers.
    pub(crate) fn answers_policy(&self) -> bool {
        match self {
            Self::Exact { .. } | Self::Pattern(_) | Self::Seen { .. } => true,
            Self::Proposed { .. } => false,
        }
    }

    /// Whether it answers what a reviewer or a hook asks about the arguments that it covers. The approver saw the same
    /// words, or chose a pattern that the asker still proposes.
    pub(crate) fn answers(&self, concern: &Concern) -> bool {
        match self {
            Self::Exact { .. } | Self::Pattern(_) => false,
            Self::Seen { concerns, .. } => concerns.contains(&concern.digest()),
            Self::Proposed { asker, pattern } => *asker == concern.asker && concern.patterns.contains(pattern),
        }
    }

    /// What it covers, in words for people.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Exact { sha256, shown } if shown.is_empty() => {
                format!("exactly the arguments with digest {}", sha256.get(..HASH_DIGITS).unwrap_or(sha256))
            }
            Self::Exact { shown, .. } => format!("exactly {shown}"),
            Self::Pattern(pattern) => pattern.to_string(),
            Self::Seen { covers, .. } => covers.describe(),
            Self::Proposed { asker, pattern } => asker.describe(pattern),
        }
    }
}

impl Binding {
    pub(crate) fn new(
        subject: ledger::Subject,
        tool: &ToolName,
        (plugin, definition): (&str, &str),
        permissions: Permissions,
        grants: Vec<String>,
        (principal, origin): (&Principal, Origin),
    ) -> Self {
        Self {
            subject: subject.as_str().to_owned(),
            tool: tool.clone(),
            plugin_sha256: plugin.to_owned(),
            definition_sha256: definition.to_owned(),
            permissions,
            grants,
            principal: principal.to_string(),
            origin: origin.as_str().to_owned(),
        }
    }

    /// Its one form as text.
    pub(crate) fn text(&self) -> String {
        // A struct of texts and lists cannot fail to be written; were it to, it is bound to nothing that there is.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The digest of this, of the arguments and of the session: what one question is about.
    pub(crate) fn digest(&self, covered: &Map<String, Value>, session: &str) -> String {
        let parts = [self.text(), json::canonical(covered), session.to_owned()];
        sha256(serde_json::to_string(&parts).unwrap_or_default())
    }

    /// What is not the same in `now`, for people; nothing where they are about different things.
    pub(crate) fn changed(&self, now: &Self) -> Option<String> {
        let same = (&self.subject, &self.tool, &self.principal, &self.origin)
            == (&now.subject, &now.tool, &now.principal, &now.origin);
        let mut changes = Vec::new();
        if self.plugin_sha256 != now.plugin_sha256 {
            changes.push(format!(
                "the plugin is another: it was {}…, it is {}…",
                short(&self.plugin_sha256),
                short(&now.plugin_sha256)
            ));
        }
        if self.definition_sha256 != now.definition_sha256 {
            changes.push("the tool's definition is another".to_owned());
        }
        if self.permissions != now.permissions {
            changes.push(format!("its permissions were {}, they are {}", self.permissions, now.permissions));
        }
        if self.grants != now.grants {
            changes.push(format!("it got {}, it gets {}", listed(&self.grants), listed(&now.grants)));
        }
        (same && !changes.is_empty()).then(|| changes.join("; "))
    }
}

fn listed(grants: &[String]) -> String {
    if grants.is_empty() { "no handle".to_owned() } else { grants.join(" and ") }
}

fn short(hash: &str) -> &str {
    hash.get(..HASH_DIGITS).unwrap_or(hash)
}
