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
    /// Its words: encoded, bounded, and behind a label of the host's.
    pub(crate) reason: String,
    /// What a remembered approval may cover, as the asker proposes. Each covers the call.
    pub(crate) patterns: Vec<Pattern>,
}

/// Who asks beside the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Asker {
    /// The reviewer of the call's plugin.
    Plugin,
    /// A hook, by its place among the hooks, from 1.
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
        format!("{pattern} (proposed by {self}, for what it asks alone)")
    }
}

impl Concern {
    /// Whether an approver who saw `other` saw this.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.asker, &self.reason) == (other.asker, &other.reason)
    }

    /// What a remembered approval keeps of it: who asked, and why.
    pub(super) fn digest(&self) -> String {
        // A number and a text cannot fail to be written; were they to, no approval answers it.
        serde_json::to_string(&(self.asker, &self.reason)).map(sha256).unwrap_or_default()
    }
}

/// Returns a concern that no approver saw when they were shown `shown`.
pub(crate) fn unseen<'a>(concerns: &'a [Concern], shown: &[Concern]) -> Option<&'a Concern> {
    concerns.iter().find(|concern| !shown.iter().any(|known| known.is_same(concern)))
}
