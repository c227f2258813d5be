//! Bindings of approvals. An approval applies to exactly one plugin version, definition, set of grants and caller. If
//! one of them changes, it does not apply, and the next request says what changed.

use portcullis_policy::{Origin, Pattern, Permissions, Principal, ToolName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::concern::{Asker, Concern};
use crate::json;
use crate::ledger;
use crate::text::sha256;

/// Digits of a hash that are shown. They are enough to distinguish two versions of a plugin.
const HASH_DIGITS: usize = 12;

/// What an approval is bound to, except the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalBinding {
    /// The kind of request that it answers.
    pub(crate) subject: String,
    pub(crate) tool: ToolName,
    pub(crate) plugin_sha256: String,
    pub(crate) definition_sha256: String,
    /// All permissions that the tool declares, or the one that a running call asks for.
    pub(crate) permissions: Permissions,
    /// The handles that the call gets, one line each, with their resolved places.
    pub(crate) grants: Vec<String>,
    pub(crate) principal: String,
    pub(crate) origin: String,
}

/// The arguments or resources that an approval covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Coverage {
    /// Exactly the arguments with this digest.
    Exact {
        /// The SHA-256 of the canonical form, in hexadecimal.
        sha256: String,
        /// The beginning of the arguments, for people to recognise them. Empty if the policy keeps no payloads.
        #[serde(default)]
        shown: String,
    },
    /// The arguments that the pattern covers.
    Pattern(Pattern),
    /// The same as `covers`, for a call that a reviewer or a hook asked about too.
    Seen {
        /// The arguments that are covered.
        covers: Box<Self>,
        /// The digests of the concerns that the approver saw.
        concerns: Vec<String>,
    },
    /// A pattern that a reviewer or a hook proposed. It answers only what that asker asks.
    Proposed {
        /// The source of the pattern.
        asker: Asker,
        /// What it covers.
        pattern: Pattern,
    },
}

impl Coverage {
    /// Covers exactly the arguments with this canonical form.
    pub(crate) fn exact(canonical: &str, shown: String) -> Self {
        Self::Exact { sha256: sha256(canonical), shown }
    }

    /// Returns whether this covers arguments with this digest.
    pub(crate) fn covers(&self, arguments: &Map<String, Value>, arguments_sha256: &str) -> bool {
        match self {
            Self::Exact { sha256, .. } => sha256 == arguments_sha256,
            Self::Pattern(pattern) | Self::Proposed { pattern, .. } => pattern.covers(arguments),
            Self::Seen { covers, .. } => covers.covers(arguments, arguments_sha256),
        }
    }

    /// Adds the concerns that the approver saw.
    pub(crate) fn seeing(self, concerns: &[Concern]) -> Self {
        if concerns.is_empty() {
            return self;
        }
        Self::Seen { covers: Box::new(self), concerns: concerns.iter().map(Concern::digest).collect() }
    }

    /// Returns whether this answers what the policy asks about the covered arguments.
    pub(crate) fn answers_policy(&self) -> bool {
        match self {
            Self::Exact { .. } | Self::Pattern(_) | Self::Seen { .. } => true,
            Self::Proposed { .. } => false,
        }
    }

    /// Returns whether this answers what a reviewer or a hook asks about the covered arguments: the approver saw the
    /// same text, or chose a pattern that the asker still proposes.
    pub(crate) fn answers(&self, concern: &Concern) -> bool {
        match self {
            Self::Exact { .. } | Self::Pattern(_) => false,
            Self::Seen { concerns, .. } => concerns.contains(&concern.digest()),
            Self::Proposed { asker, pattern } => *asker == concern.asker && concern.patterns.contains(pattern),
        }
    }

    /// Returns the pattern that answers what the policy asks.
    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        match self {
            Self::Pattern(pattern) => Some(pattern),
            Self::Seen { covers, .. } => covers.pattern(),
            Self::Exact { .. } | Self::Proposed { .. } => None,
        }
    }

    /// Describes the coverage for people.
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

impl ApprovalBinding {
    pub(crate) fn new(
        subject: ledger::QuestionSubject,
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

    /// Returns the canonical text of the binding.
    pub(crate) fn text(&self) -> String {
        // Serializing texts and lists cannot fail. If it did, the empty text would match no real binding.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the digest of the binding, the arguments and the session, which identifies what a request is about.
    pub(crate) fn digest(&self, covered: &Map<String, Value>, session: &str) -> String {
        // A JSON array, so that no part can pass for the end of the one before it.
        let parts = [self.text(), json::canonical(covered), session.to_owned()];
        sha256(serde_json::to_string(&parts).unwrap_or_default())
    }

    /// Describes the differences to `now` for people. Returns `None` if there are none, or if the two are about
    /// different tools or callers.
    pub(crate) fn changed(&self, now: &Self) -> Option<String> {
        let same = (&self.subject, &self.tool, &self.principal, &self.origin)
            == (&now.subject, &now.tool, &now.principal, &now.origin);
        let mut changes = Vec::new();
        if self.plugin_sha256 != now.plugin_sha256 {
            changes.push(format!(
                "the plugin changed: it was {}…, now it is {}…",
                short(&self.plugin_sha256),
                short(&now.plugin_sha256)
            ));
        }
        if self.definition_sha256 != now.definition_sha256 {
            changes.push("the tool's definition changed".to_owned());
        }
        if self.permissions != now.permissions {
            changes.push(format!("its permissions were {}, now they are {}", self.permissions, now.permissions));
        }
        if self.grants != now.grants {
            changes.push(format!("it got {}, now it gets {}", listed(&self.grants), listed(&now.grants)));
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
