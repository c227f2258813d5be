//! The layers of a policy: the built-in policy, the user's policy, and the policy of a project.
//!
//! This file must not know how layers are combined, or where their texts are stored.

use std::fmt;

use serde::Serialize;

/// The text that a part of the policy is from. A greater layer is a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The built-in policy.
    BuiltIn,
    /// The policy of the user who runs the host.
    User,
    /// The policy of the directory in which the host runs.
    Project,
}

impl Layer {
    /// Every layer, in the order in which they are read.
    pub const ALL: [Self; 3] = [Self::BuiltIn, Self::User, Self::Project];

    /// Returns its place in [`Layer::ALL`].
    pub(crate) fn index(self) -> usize {
        match self {
            Self::BuiltIn => 0,
            Self::User => 1,
            Self::Project => 2,
        }
    }

    /// Returns the word that the audit log uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// Returns the name of the layer in a sentence.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::BuiltIn => "the built-in policy",
            Self::User => "the user's policy",
            Self::Project => "the project's policy",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Whether the user has reviewed and accepted a project's policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The policy may widen what is allowed.
    Trusted,
    /// The policy can only restrict.
    Untrusted,
}

/// The texts of a policy. A missing text has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers<'t> {
    /// The built-in policy of the host.
    pub built_in: Option<&'t str>,
    /// The user's policy.
    pub user: Option<&'t str>,
    /// The project's policy, and whether the user has accepted exactly this text.
    pub project: Option<(&'t str, Trust)>,
}
