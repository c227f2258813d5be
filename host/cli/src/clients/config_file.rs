//! One agent's configuration file: where it really is, what it has, and what it would become.
//!
//! A link is followed only if that cannot change whose file is written. A file of a project must stay inside of the
//! project, because the project may have been written by others. A file of the user may be a link to another file of
//! the user, as with dotfiles in a repository. The link itself stays, and its target is replaced.

use super::client_facts::{ClientPlaces, ConfigScope};
use super::entry::ServerCommand;
use super::facts::AgentClient;
use super::found_entry::{FoundEntry, Members, MergeError};
use super::merge;
use crate::user_files;
use std::path::{Path, PathBuf};

/// A configuration file of an agent.
pub(crate) struct ConfigFile {
    pub(crate) client: AgentClient,
    /// The path as the agent names it.
    pub(crate) path: PathBuf,
    /// The file behind all links.
    pub(crate) target: PathBuf,
    /// The text, if the file exists.
    pub(crate) before: Option<String>,
    members: Members,
}

/// A configuration that is left alone.
pub(crate) struct Left {
    pub(crate) path: PathBuf,
    pub(crate) why: String,
    /// The lines that the user can add.
    pub(crate) lines: String,
}

/// What the server's entry in a configuration is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryState {
    /// There is none.
    Missing,
    /// It starts what `init` writes. It may have other members, such as a timeout.
    Expected,
    /// It starts another program, or in another way.
    Other {
        /// Its command line.
        words: Vec<String>,
        /// Further members that change what is started, such as `env`.
        also: Vec<String>,
    },
}

impl ConfigFile {
    /// Reads the configuration of an agent.
    ///
    /// # Errors
    /// Why it is left alone. `None` if the user has no home directory.
    pub(crate) fn read(
        client: AgentClient,
        places: &ClientPlaces<'_>,
        command: &ServerCommand,
    ) -> Option<Result<Self, Left>> {
        let facts = client.facts();
        let path = (facts.file)(places)?;
        let members = (facts.entry)(command);
        // An empty text can always be merged.
        let lines = merge::with_entry(facts, "", &members).unwrap_or_default();
        let left = |why: String| Left { path: path.clone(), why, lines: lines.clone() };
        let within = match facts.scope {
            ConfigScope::Project => Some(places.project),
            ConfigScope::User => None,
        };
        let read = target(&path, within).and_then(|target| Ok((text(&target)?, target)));
        Some(match read {
            Ok((before, target)) => Ok(Self { client, path, target, before, members }),
            Err(why) => Err(left(why)),
        })
    }

    /// Returns the state of the server's entry.
    ///
    /// # Errors
    /// The text cannot be parsed.
    pub(crate) fn entry(&self) -> Result<EntryState, MergeError> {
        let Some(text) = &self.before else { return Ok(EntryState::Missing) };
        Ok(match merge::entry(self.client.facts(), text, &self.members)? {
            None => EntryState::Missing,
            Some(found) if found.is_expected => EntryState::Expected,
            Some(FoundEntry { words, also, .. }) => EntryState::Other { words, also },
        })
    }

    /// Returns the text with the server's entry.
    ///
    /// # Errors
    /// The text cannot be parsed or merged, or the file cannot be replaced. The file is left alone.
    pub(crate) fn merged(&self) -> Result<String, Left> {
        let merged = user_files::check_replaceable(&self.target).map_err(|error| error.to_string()).and_then(|()| {
            let text = self.before.as_deref().unwrap_or_default();
            merge::with_entry(self.client.facts(), text, &self.members).map_err(|error| error.to_string())
        });
        merged.map_err(|why| Left { path: self.path.clone(), why, lines: self.lines() })
    }

    /// Returns the text of an agent's configuration without the server's entry. `None` if it has none.
    ///
    /// # Errors
    /// The text cannot be parsed.
    pub(crate) fn without_entry_of(client: AgentClient, text: &str) -> Result<Option<String>, MergeError> {
        merge::without_entry(client.facts(), text)
    }

    /// Returns a configuration with only the server.
    pub(crate) fn lines(&self) -> String {
        merge::with_entry(self.client.facts(), "", &self.members).unwrap_or_default()
    }
}

/// Returns the file behind all links.
pub(super) fn target(path: &Path, within: Option<&Path>) -> Result<PathBuf, String> {
    let target = user_files::resolve(path).map_err(|error| error.to_string())?;
    if within.is_some_and(|project| !target.starts_with(project)) {
        return Err(format!("it is a link that leads out of the project, to {}", target.display()));
    }
    Ok(target)
}

/// Returns the text of a file, if it exists.
pub(super) fn text(path: &Path) -> Result<Option<String>, String> {
    match user_files::read(path) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> ServerCommand {
        ServerCommand { program: PathBuf::from("/opt/bin/portcullis"), arguments: vec!["serve".to_owned()] }
    }

    fn file(client: AgentClient, before: &str) -> ConfigFile {
        let members = (client.facts().entry)(&command());
        let (path, target) = (PathBuf::from("f"), PathBuf::from("f"));
        ConfigFile { client, path, target, before: Some(before.to_owned()), members }
    }

    fn merged(client: AgentClient, before: &str) -> String {
        merge::with_entry(client.facts(), before, &file(client, before).members).unwrap()
    }

    /// The entry of every agent is found again, and a text without it is what it was before.
    #[test]
    fn an_entry_is_found_again_and_removed_again() {
        let json = "{\n  // a comment\n  \"other\": [1, 2],\n  \"NAME\": {\n    \"one\": { \"command\": \"x\" }, \
                    /* c */\n  },\n}\n";
        let toml = "# a comment\nmodel = 'x'   # more\n\n[NAME.one]\ncommand = \"x\"\n\n[ tail ]\nlast=1\n";
        for client in AgentClient::ALL {
            let text = if client == AgentClient::Codex { toml } else { json };
            let text = text.replace("NAME", client.facts().servers);
            let merged = merged(client, &text);
            assert_eq!(file(client, &merged).entry(), Ok(EntryState::Expected), "{merged}");
            assert_eq!(file(client, &text).entry(), Ok(EntryState::Missing));
            // Every line of the file is still there, in its order.
            let mut lines = merged.lines();
            for line in text.lines() {
                assert!(
                    lines.any(|found| found.trim_end_matches(',') == line.trim_end_matches(',')),
                    "{line}: {merged}"
                );
            }
            let without = ConfigFile::without_entry_of(client, &merged).unwrap().unwrap();
            assert_eq!(file(client, &without).entry(), Ok(EntryState::Missing), "{without}");
            assert_eq!(self::merged(client, &merged), merged, "{merged}");
        }
    }

    #[test]
    fn an_entry_of_another_program_is_replaced() {
        let before = "{\"mcpServers\":{\"portcullis\":{\"command\":\"/old\",\"args\":[\"serve\"],\"env\":{}}}}";
        let client = AgentClient::ClaudeCode;
        let words = vec!["/old".to_owned(), "serve".to_owned()];
        assert_eq!(file(client, before).entry(), Ok(EntryState::Other { words, also: Vec::new() }));
        assert_eq!(file(client, &merged(client, before)).entry(), Ok(EntryState::Expected));
    }

    /// A variable such as `LD_PRELOAD` changes what is started, although the command line is the expected one. A member
    /// that does not stays, as the user wrote it.
    #[test]
    fn an_entry_may_have_further_members_if_they_do_not_change_what_is_started() {
        let command = r#""command": "/opt/bin/portcullis""#;
        let json = |more: &str| {
            format!(r#"{{ "mcpServers": {{ "portcullis": {{ {command}, "args": ["serve"], {more} }} }} }}"#)
        };
        let head = "[mcp_servers.portcullis]\ncommand = \"/opt/bin/portcullis\"\nargs = [\"serve\"]\n";
        let toml = |more: &str| format!("{head}tool_timeout_sec = 9\n{more}\n");
        let rows = [
            (AgentClient::Gemini, json(r#""timeout": 9, "type": "stdio", "env": {}"#), ""),
            (AgentClient::Gemini, json(r#""timeout": 9, "env": { "LD_PRELOAD": "/x.so" }"#), "env"),
            (AgentClient::Gemini, json(r#""timeout": 9, "cwd": "/elsewhere""#), "cwd"),
            (AgentClient::Gemini, json(r#""httpUrl": "https://a.example/mcp", "timeout": 9"#), "httpUrl"),
            (AgentClient::Gemini, json(r#""timeout": 9, "type": "http""#), "type"),
            (AgentClient::Codex, toml(""), ""),
            (AgentClient::Codex, toml("env = { LD_PRELOAD = \"/x.so\" }"), "env"),
            (AgentClient::Codex, toml("[mcp_servers.portcullis.env]\nLD_PRELOAD = \"/x.so\""), "env"),
            (AgentClient::Codex, toml("cwd = \"/elsewhere\""), "cwd"),
        ];
        for (client, text, also) in rows {
            let words = vec!["/opt/bin/portcullis".to_owned(), "serve".to_owned()];
            let expected = match also {
                "" => EntryState::Expected,
                name => EntryState::Other { words, also: vec![name.to_owned()] },
            };
            assert_eq!(file(client, &text).entry(), Ok(expected), "{text}");
            let merged = merged(client, &text);
            assert_eq!(file(client, &merged).entry(), Ok(EntryState::Expected), "{merged}");
            assert!(merged.contains("timeout") && merged.contains('9'), "{merged}");
            assert!(also.is_empty() || !merged.contains(also), "{merged}");
        }
    }

    #[test]
    fn a_text_with_an_error_or_another_shape_is_an_error() {
        for text in ["{", "[]", "{\"mcpServers\":[]}", "{\"mcpServers\":{},\"mcpServers\":{}}", "{'a':1}", "{a:1}", "x"]
        {
            let client = AgentClient::Cursor;
            assert!(merge::with_entry(client.facts(), text, &file(client, text).members).is_err(), "{text}");
        }
        for text in ["a = ", "mcp_servers = 1", "[mcp_servers]\nportcullis = 1", "[a]\n[a]"] {
            let client = AgentClient::Codex;
            assert!(merge::with_entry(client.facts(), text, &file(client, text).members).is_err(), "{text}");
        }
    }

    #[test]
    fn an_empty_file_gets_only_the_entry() {
        assert_eq!(
            merged(AgentClient::VsCode, ""),
            "{\n  \"servers\": {\n    \"portcullis\": {\n      \"type\": \"stdio\",\n      \"command\": \
             \"/opt/bin/portcullis\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"
        );
        assert_eq!(
            merged(AgentClient::Codex, ""),
            "[mcp_servers.portcullis]\ncommand = \"/opt/bin/portcullis\"\nargs = [\"serve\"]\n"
        );
    }

    /// A byte order mark, tabs and CRLF stay.
    #[test]
    fn unusual_formatting_stays() {
        let before = "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n";
        let merged = merged(AgentClient::ClaudeCode, before);
        assert!(merged.starts_with("\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}"), "{merged:?}");
        assert!(merged.ends_with("\r\n}\r\n"), "{merged:?}");
        assert_eq!(merged.matches('\n').count(), merged.matches("\r\n").count(), "{merged:?}");
    }
}
