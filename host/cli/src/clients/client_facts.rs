//! The facts that `init` needs about an agent, and the places where agents are looked for.

use super::entry::{EntryValue, ServerCommand};
use std::path::{Path, PathBuf};

/// Whose configuration a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigScope {
    /// One project's. Its entry names the project.
    Project,
    /// The user's, for all projects. The server finds the project by its working directory.
    User,
}

/// The syntax of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfigSyntax {
    Json,
    Toml,
}

/// The places where agents are looked for.
#[derive(Debug)]
pub(crate) struct ClientPlaces<'a> {
    /// The resolved directory of the project.
    pub(crate) project: &'a Path,
    pub(crate) home: Option<&'a Path>,
    /// The user's configuration directory.
    pub(crate) config: Option<&'a Path>,
}

impl ClientPlaces<'_> {
    /// Returns whether one of these exists in the project.
    pub(super) fn project_has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.project.join(name).exists())
    }

    /// Returns whether one of these exists in the home directory.
    pub(super) fn home_has(&self, names: &[&str]) -> bool {
        self.home.is_some_and(|home| names.iter().any(|name| home.join(name).exists()))
    }

    /// Returns whether one of these exists in the user's configuration directory.
    pub(super) fn config_has(&self, names: &[&str]) -> bool {
        self.config.is_some_and(|config| names.iter().any(|name| config.join(name).exists()))
    }
}

/// The facts about one agent.
pub(super) struct ClientFacts {
    /// Its name for people.
    pub(super) title: &'static str,
    pub(super) scope: ConfigScope,
    pub(super) syntax: ConfigSyntax,
    /// The member that holds the servers.
    pub(super) servers: &'static str,
    /// Returns whether the agent is in use here.
    pub(super) is_here: fn(&ClientPlaces<'_>) -> bool,
    /// Returns its configuration file. `None` if the user has no home directory.
    pub(super) file: fn(&ClientPlaces<'_>) -> Option<PathBuf>,
    /// Returns the members of the server's entry, in order.
    pub(super) entry: fn(&ServerCommand) -> Vec<(&'static str, EntryValue)>,
    /// What the user has to do next.
    pub(super) next: &'static str,
}
