//! The known agents, and the facts about each.

use super::client_facts::{ClientFacts, ClientPlaces, ConfigScope};
use super::{claude_code, codex, cursor, gemini, opencode, vs_code, zed};
use clap::ValueEnum;

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
        // Only a variant that is hidden from --client has no value, and none is.
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
