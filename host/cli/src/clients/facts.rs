//! The known agents, and the facts about each.

use super::entry::{EntryValue, ServerCommand};
use super::{claude_code, codex, cursor, gemini, opencode, vs_code, zed};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// An agent whose configuration `init` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentClient {
    /// Claude Code: .mcp.json of the project
    ClaudeCode,
    /// Cursor: .cursor/mcp.json of the project
    Cursor,
    /// VS Code: .vscode/mcp.json of the project
    VsCode,
    /// Codex CLI: config.toml in ~/.codex, for all projects
    Codex,
    /// opencode: opencode.json of the project
    Opencode,
    /// Zed: settings.json in ~/.config/zed, for all projects
    Zed,
    /// Gemini CLI: .gemini/settings.json of the project
    Gemini,
}

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

impl AgentClient {
    /// All agents, in the order in which they are shown.
    pub(crate) const ALL: [Self; 7] =
        [Self::ClaudeCode, Self::Cursor, Self::VsCode, Self::Codex, Self::Opencode, Self::Zed, Self::Gemini];

    pub(super) fn facts(self) -> &'static ClientFacts {
        match self {
            Self::ClaudeCode => &claude_code::FACTS,
            Self::Cursor => &cursor::FACTS,
            Self::VsCode => &vs_code::FACTS,
            Self::Codex => &codex::FACTS,
            Self::Opencode => &opencode::FACTS,
            Self::Zed => &zed::FACTS,
            Self::Gemini => &gemini::FACTS,
        }
    }

    /// Returns the name by which `--client` selects it.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Returns the agent of a name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Returns its name for people.
    pub(crate) fn title(self) -> &'static str {
        self.facts().title
    }

    /// Returns whose configuration its file is.
    pub(crate) fn scope(self) -> ConfigScope {
        self.facts().scope
    }

    /// Returns what the user has to do next.
    pub(crate) fn next(self) -> &'static str {
        self.facts().next
    }

    /// Returns whether the agent is in use here.
    pub(crate) fn is_here(self, places: &ClientPlaces<'_>) -> bool {
        (self.facts().is_here)(places)
    }
}
