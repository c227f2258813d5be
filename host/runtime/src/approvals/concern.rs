//! Why a plugin's reviewer or a hook of the embedder wants an approver. The policy may allow the call.
//!
//! It must not know what either of them looked at.

use crate::text::sha256;
use portcullis_policy::Pattern;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a reviewer or a hook asks an approver about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Concern {
    pub(crate) asker: Asker,
    /// The asker's text: escaped, cut, and labelled by the host.
    pub(crate) reason: String,
    /// The patterns that the asker proposes for a remembered approval. Each covers the call.
    pub(crate) patterns: Vec<Pattern>,
}

/// Who asks in addition to the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Asker {
    /// The reviewer of the call's plugin.
    Plugin,
    /// A hook, by its position from 1.
    Hook(u32),
}

impl fmt::Display for Asker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plugin => formatter.write_str("the plugin"),
            Self::Hook(number) => write!(formatter, "hook {number} of this host"),
        }
    }
}

impl Asker {
    /// Describes a pattern that this asker proposes, for people.
    pub(crate) fn describe(self, pattern: &Pattern) -> String {
        format!("{pattern} (proposed by {self}, only for its own question)")
    }
}

impl Concern {
    /// Returns whether an approver who saw `other` saw this concern too.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.asker, &self.reason) == (other.asker, &other.reason)
    }

    /// Returns the digest that a remembered approval stores: of who asked, and why.
    pub(crate) fn digest(&self) -> String {
        // Serializing a number and a text cannot fail. If it did, no approval would answer the concern.
        serde_json::to_string(&(self.asker, &self.reason)).map(sha256).unwrap_or_default()
    }
}

/// Returns a concern that no approver saw when they were shown `shown`.
pub(crate) fn unseen<'a>(concerns: &'a [Concern], shown: &[Concern]) -> Option<&'a Concern> {
    concerns.iter().find(|concern| !shown.iter().any(|known| known.is_same(concern)))
}
