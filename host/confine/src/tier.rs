//! How strongly a machine confines programs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a machine confines programs. `docs/execute.md` says what each tier promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tier {
    /// Namespaces: the program has its own file system view, processes and network.
    Namespaces,
    /// Landlock and seccomp, where namespaces are not allowed.
    Landlock,
}

impl fmt::Display for Tier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
        })
    }
}

/// The tier of this machine, and why it has no stronger one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierReport {
    /// The tier. None if the machine cannot confine programs.
    pub tier: Option<Tier>,
    /// Why there are no namespaces.
    pub no_namespaces: Option<String>,
    /// Why Landlock cannot be used. It is only tried where there are no namespaces.
    pub no_landlock: Option<String>,
}

impl TierReport {
    /// Describes why there is no stronger tier.
    pub fn reason(&self) -> String {
        let parts = [("namespaces", &self.no_namespaces), ("Landlock", &self.no_landlock)];
        let told = parts.iter().filter_map(|(name, why)| Some(format!("{name}: {}", why.as_ref()?)));
        told.collect::<Vec<_>>().join("; ")
    }
}
