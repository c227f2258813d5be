//! The places in the configurations of agents that hold MCP servers.
//!
//! Sources: code.claude.com/docs/en/mcp, "MCP installation scopes"; cursor.com/docs/context/mcp, "Configuration
//! locations"; code.visualstudio.com/docs/copilot/reference/mcp-configuration; developers.openai.com/codex/mcp;
//! opencode.ai/docs/config, "Locations".

use super::client_facts::{ClientPlaces, ConfigScope, ConfigSyntax};
use super::client_server::ClientServer;
use super::config_file::{target, text};
use super::entry::ServerCommand;
use super::facts::AgentClient;
use super::found_entry::{MergeError, SERVER_NAME};
use super::{merge_json, merge_toml};
use crate::user_files;
use std::path::{Path, PathBuf};

/// A place that holds servers, and the text of its file. A file can have several places.
pub(crate) struct ServerSource {
    pub(crate) client: AgentClient,
    pub(crate) scope: ConfigScope,
    /// The path as the agent names it.
    pub(crate) path: PathBuf,
    /// The file behind all links.
    pub(crate) target: PathBuf,
    pub(crate) before: String,
    /// The members that lead to the servers.
    members: Vec<String>,
}

/// A server of a source: its name, and what it is or why it is not understood.
pub(crate) type FoundServer = (String, Result<ClientServer, String>);

impl ServerSource {
    /// Reads every file that exists. A file that cannot be read is reported with the reason.
    pub(crate) fn all(places: &ClientPlaces<'_>) -> Vec<Result<Self, (PathBuf, String)>> {
        let read = |place: SourcePlace| Self::read(place, places.project).transpose();
        source_places(places).into_iter().filter_map(read).collect()
    }

    fn read(place: SourcePlace, project: &Path) -> Result<Option<Self>, (PathBuf, String)> {
        let SourcePlace { client, scope, path, members } = place;
        let within = (scope == ConfigScope::Project).then_some(project);
        let read = target(&path, within).and_then(|target| Ok((text(&target)?, target)));
        match read {
            Ok((Some(before), target)) => Ok(Some(Self { client, scope, path, target, before, members })),
            Ok((None, _)) => Ok(None),
            Err(why) => Err((path, why)),
        }
    }

    /// Returns the servers, without Portcullis itself.
    ///
    /// # Errors
    /// The text cannot be parsed.
    pub(crate) fn servers(&self) -> Result<Vec<FoundServer>, MergeError> {
        let entries = match self.client.facts().syntax {
            ConfigSyntax::Json => merge_json::entries(&self.before, &self.members())?,
            ConfigSyntax::Toml => merge_toml::entries(&self.before, self.client.facts().servers)?,
        };
        let foreign = entries.into_iter().filter(|(name, _)| name != SERVER_NAME);
        Ok(foreign
            .map(|(name, entry)| {
                let server = ClientServer::of(&entry);
                (name, server)
            })
            .collect())
    }

    /// Returns a text of the file with the one entry for Portcullis in place of these servers.
    ///
    /// # Errors
    /// The text cannot be merged, or the file cannot be replaced.
    pub(crate) fn replaced(&self, text: &str, names: &[String], command: &ServerCommand) -> Result<String, String> {
        user_files::check_replaceable(&self.target).map_err(|error| error.to_string())?;
        self.merged(text, names, command).map_err(|error| error.to_string())
    }

    fn merged(&self, text: &str, names: &[String], command: &ServerCommand) -> Result<String, MergeError> {
        let facts = self.client.facts();
        let (members, mut text) = ((facts.entry)(command), text.to_owned());
        for name in names {
            let without = match facts.syntax {
                ConfigSyntax::Json => merge_json::without_entry(&text, &self.members(), name)?,
                ConfigSyntax::Toml => merge_toml::without_entry(&text, facts.servers, name)?,
            };
            text = without.unwrap_or(text);
        }
        match facts.syntax {
            ConfigSyntax::Json => merge_json::with_entry(&text, &self.members(), &members),
            ConfigSyntax::Toml => merge_toml::with_entry(&text, facts.servers, &members),
        }
    }

    fn members(&self) -> Vec<&str> {
        self.members.iter().map(String::as_str).collect()
    }
}

/// A place that may exist.
struct SourcePlace {
    client: AgentClient,
    scope: ConfigScope,
    path: PathBuf,
    members: Vec<String>,
}

fn source_places(places: &ClientPlaces<'_>) -> Vec<SourcePlace> {
    let mut found = Vec::new();
    let mut add = |client: AgentClient, scope, path: PathBuf, members: &[&str]| {
        let members: Vec<String> = members.iter().map(|member| (*member).to_owned()).collect();
        // The project may be the home directory.
        if !found.iter().any(|known: &SourcePlace| known.path == path && known.members == members) {
            found.push(SourcePlace { client, scope, path, members });
        }
    };
    let (project, user) = (ConfigScope::Project, ConfigScope::User);
    let in_project = |name: &str| places.project.join(name);
    add(AgentClient::ClaudeCode, project, in_project(".mcp.json"), &["mcpServers"]);
    add(AgentClient::Cursor, project, in_project(".cursor/mcp.json"), &["mcpServers"]);
    add(AgentClient::VsCode, project, in_project(".vscode/mcp.json"), &["servers"]);
    for name in ["opencode.json", "opencode.jsonc"] {
        add(AgentClient::Opencode, project, in_project(name), &["mcp"]);
    }
    if let Some(home) = places.home {
        let claude = home.join(".claude.json");
        add(AgentClient::ClaudeCode, user, claude.clone(), &["mcpServers"]);
        // Claude Code keeps servers that a user has added for one project in the file of the user.
        if let Some(project) = places.project.to_str() {
            add(AgentClient::ClaudeCode, user, claude, &["projects", project, "mcpServers"]);
        }
        add(AgentClient::Cursor, user, home.join(".cursor/mcp.json"), &["mcpServers"]);
        add(AgentClient::Codex, user, home.join(".codex/config.toml"), &["mcp_servers"]);
    }
    if let Some(config) = places.config {
        for program in ["Code", "Code - Insiders", "VSCodium"] {
            add(AgentClient::VsCode, user, config.join(program).join("User/mcp.json"), &["servers"]);
        }
        for name in ["opencode.json", "opencode.jsonc"] {
            add(AgentClient::Opencode, user, config.join("opencode").join(name), &["mcp"]);
        }
    }
    found
}
