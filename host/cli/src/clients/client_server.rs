//! An MCP server as an agent's configuration describes it. Everything in it is untrusted.
//!
//! Claude Code, Cursor, VS Code and Codex have `command`, `args` and `env`. opencode has one list `command`, and
//! `environment`. A server at an address has `url` and `headers`; Codex has `http_headers`, `env_http_headers` and
//! `bearer_token_env_var`.

use serde_json::{Map, Value};
use std::path::PathBuf;

/// Maximum bytes of a text of an entry. Longer ones are no paths or settings.
const TEXT_BYTES_MAX: usize = 8192;

/// Maximum words and variables of an entry, as in a policy.
const PARTS_MAX: usize = 64;

/// An MCP server of an agent.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ClientServer {
    pub(crate) start: ClientStart,
    /// The variables. Their values may be secrets, so this type has no `Debug`.
    pub(crate) environment: Vec<(String, String)>,
    /// The directory that it is started in, if the entry names one.
    pub(crate) directory: Option<PathBuf>,
}

/// How an agent reaches a server.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum ClientStart {
    /// It starts a program.
    Command(Vec<String>),
    /// It connects to an address.
    Address(ClientAddress),
}

/// The address of a server.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ClientAddress {
    pub(crate) url: String,
    /// The headers of each request. Their values may be secrets, so this type has no `Debug`.
    pub(crate) headers: Vec<(String, String)>,
    /// Whether it speaks the transport of the year 2024, which Streamable HTTP has replaced.
    pub(crate) is_sse: bool,
}

impl ClientServer {
    /// Reads an entry.
    ///
    /// # Errors
    /// Why it is not understood. The reason has no text of the entry.
    pub(super) fn of(entry: &Value) -> Result<Self, String> {
        let entry = entry.as_object().ok_or("it is not a table")?;
        let directory = entry.get("cwd").map(|value| text("cwd", value)).transpose()?.map(PathBuf::from);
        let start = match (entry.get("command"), entry.get("url").or(entry.get("serverUrl"))) {
            (Some(command), _) => ClientStart::Command(words(command, entry.get("args"))?),
            (None, Some(url)) => ClientStart::Address(address(text("url", url)?, entry)?),
            (None, None) => return Err("it has no `command` and no `url`".to_owned()),
        };
        let environment = texts("env", entry.get("env").or(entry.get("environment")))?;
        Ok(Self { start, environment, directory })
    }
}

fn words(command: &Value, arguments: Option<&Value>) -> Result<Vec<String>, String> {
    let list = |name: &str, value: &Value| -> Result<Vec<String>, String> {
        let elements = value.as_array().ok_or_else(|| format!("its `{name}` is not a list of texts"))?;
        if elements.len() > PARTS_MAX {
            return Err(format!("its `{name}` has more than {PARTS_MAX} elements"));
        }
        elements.iter().map(|element| text(name, element)).collect()
    };
    let mut words = match command {
        Value::String(_) => vec![text("command", command)?],
        _ => list("command", command)?,
    };
    if let Some(arguments) = arguments.filter(|arguments| !arguments.is_null()) {
        words.extend(list("args", arguments)?);
    }
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        Some(_) | None => Err("its `command` is empty".to_owned()),
    }
}

fn address(url: String, entry: &Map<String, Value>) -> Result<ClientAddress, String> {
    let mut headers = texts("headers", entry.get("headers").or(entry.get("http_headers")))?;
    // Codex names variables. Written as placeholders, they are imported like those of the other agents.
    let of_variable = |name: &str| format!("${{{name}}}");
    for (name, variable) in texts("env_http_headers", entry.get("env_http_headers"))? {
        headers.push((name, of_variable(&variable)));
    }
    if let Some(variable) = entry.get("bearer_token_env_var").filter(|variable| !variable.is_null()) {
        let variable = text("bearer_token_env_var", variable)?;
        headers.push(("Authorization".to_owned(), format!("Bearer {}", of_variable(&variable))));
    }
    Ok(ClientAddress { url, headers, is_sse: entry.get("type").is_some_and(|kind| kind == "sse") })
}

/// Reads a table of texts.
fn texts(name: &str, table: Option<&Value>) -> Result<Vec<(String, String)>, String> {
    let none = Map::new();
    let table = match table {
        None | Some(Value::Null) => &none,
        Some(value) => value.as_object().ok_or_else(|| format!("its `{name}` is not a table"))?,
    };
    if table.len() > PARTS_MAX {
        return Err(format!("its `{name}` has more than {PARTS_MAX} entries"));
    }
    let mut texts = Vec::new();
    for (key, value) in table {
        let value = match value {
            Value::Null => continue,
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            other => text(name, other)?,
        };
        texts.push((key.clone(), value));
    }
    Ok(texts)
}

fn text(name: &str, value: &Value) -> Result<String, String> {
    let text = value.as_str().ok_or_else(|| format!("its `{name}` has something else than text"))?;
    // A NUL would end an argument or a variable of the program (execve(2)).
    match text.len() <= TEXT_BYTES_MAX && !text.contains('\0') {
        true => Ok(text.to_owned()),
        false => Err(format!("its `{name}` has a text that is too long, or a NUL")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_of_all_agents_are_read() {
        let words = |entry: Value| match ClientServer::of(&entry).ok()?.start {
            ClientStart::Command(words) => Some(words),
            ClientStart::Address(_) => None,
        };
        let expected = Some(vec!["npx".to_owned(), "-y".to_owned()]);
        assert_eq!(words(json!({ "type": "stdio", "command": "npx", "args": ["-y"], "disabled": false })), expected);
        assert_eq!(words(json!({ "type": "local", "command": ["npx", "-y"], "environment": {} })), expected);
        let entry = json!({ "command": "x", "args": null, "env": { "A": "b", "N": 1, "T": true, "Z": null } });
        let environment = ClientServer::of(&entry).ok().map(|server| server.environment);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(environment, Some(vec![pair("A", "b"), pair("N", "1"), pair("T", "true")]));
    }

    #[test]
    fn addresses_of_all_agents_are_read() {
        let address = |entry: Value| match ClientServer::of(&entry).ok()?.start {
            ClientStart::Address(ClientAddress { url, headers, is_sse }) => Some((url, headers, is_sse)),
            ClientStart::Command(_) => None,
        };
        let headers = |headers: &[(&str, &str)]| -> Vec<(String, String)> {
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        for (entry, expected, is_sse) in [
            (json!({ "type": "http", "url": "https://x", "headers": { "A": "b" } }), headers(&[("A", "b")]), false),
            (json!({ "type": "sse", "url": "https://x" }), Vec::new(), true),
            (
                json!({
                    "url": "https://x",
                    "http_headers": { "A": "b" },
                    "env_http_headers": { "C": "D" },
                    "bearer_token_env_var": "E"
                }),
                headers(&[("A", "b"), ("C", "${D}"), ("Authorization", "Bearer ${E}")]),
                false,
            ),
        ] {
            assert_eq!(address(entry), Some(("https://x".to_owned(), expected, is_sse)));
        }
    }

    #[test]
    fn a_malformed_entry_is_refused_without_its_texts() {
        for entry in [
            json!("canary"),
            json!(null),
            json!({}),
            json!({ "command": 1 }),
            json!({ "command": "" }),
            json!({ "command": [] }),
            json!({ "command": "x", "args": "canary" }),
            json!({ "command": "x", "args": ["canary", 1] }),
            json!({ "command": "x", "args": vec!["canary"; PARTS_MAX + 1] }),
            json!({ "command": "x", "env": ["canary"] }),
            json!({ "command": "x", "env": { "A": ["canary"] } }),
            json!({ "command": "x", "env": { "A": "canary\u{0}" } }),
            json!({ "command": "canary".repeat(TEXT_BYTES_MAX) }),
            json!({ "url": ["canary"] }),
            json!({ "url": "https://x", "headers": "canary" }),
        ] {
            let why = ClientServer::of(&entry).err();
            assert!(why.is_some_and(|why| !why.contains("canary")), "{entry}");
        }
    }
}
