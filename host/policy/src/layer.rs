//! The layers of a policy: what is built in, what the user wrote, and what a project brought along.
//!
//! It must not know how layers are combined, nor where their texts are kept.

use std::fmt;

use serde::Serialize;

/// Whose text a part of the policy is. A greater layer is a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The host's own.
    BuiltIn,
    /// That of the person who runs the host.
    User,
    /// That of a directory in which the host runs.
    Project,
}

impl Layer {
    /// Every layer, in the order in which they are read.
    pub const ALL: [Self; 3] = [Self::BuiltIn, Self::User, Self::Project];

    /// The word that records use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// The text of the layer, as a sentence calls it.
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

/// Whether the person has looked at a project's policy and accepted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// It may widen.
    Trusted,
    /// It can only narrow.
    Untrusted,
}

/// The texts of which a policy is made. A text that is not there says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers<'t> {
    /// The host's own.
    pub built_in: Option<&'t str>,
    /// The user's.
    pub user: Option<&'t str>,
    /// The project's, and whether the person has accepted exactly this text.
    pub project: Option<(&'t str, Trust)>,
}
