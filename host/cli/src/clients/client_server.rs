//! An MCP server as an agent's configuration describes it. Everything in it is untrusted.
//!
//! Claude Code, Cursor, VS Code and Codex have `command`, `args` and `env`. opencode has one list `command`, and
//! `environment`.

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
    Url,
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
            (None, Some(_)) => ClientStart::Url,
            (None, None) => return Err("it has no `command` and no `url`".to_owned()),
        };
        let environment = environment(entry.get("env").or(entry.get("environment")))?;
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

fn environment(variables: Option<&Value>) -> Result<Vec<(String, String)>, String> {
    let none = Map::new();
    let variables = match variables {
        None | Some(Value::Null) => &none,
        Some(value) => value.as_object().ok_or("its `env` is not a table")?,
    };
    if variables.len() > PARTS_MAX {
        return Err(format!("its `env` has more than {PARTS_MAX} variables"));
    }
    let mut environment = Vec::new();
    for (name, value) in variables {
        let value = match value {
            Value::Null => continue,
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            other => text("env", other)?,
        };
        environment.push((name.clone(), value));
    }
    Ok(environment)
}

fn text(name: &str, value: &Value) -> Result<String, String> {
    let text = value.as_str().ok_or_else(|| format!("its `{name}` has something else than text"))?;
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
            ClientStart::Url => None,
        };
        let expected = Some(vec!["npx".to_owned(), "-y".to_owned()]);
        assert_eq!(words(json!({ "type": "stdio", "command": "npx", "args": ["-y"], "disabled": false })), expected);
        assert_eq!(words(json!({ "type": "local", "command": ["npx", "-y"], "environment": {} })), expected);
        let entry = json!({ "command": "x", "args": null, "env": { "A": "b", "N": 1, "T": true, "Z": null } });
        let environment = ClientServer::of(&entry).ok().map(|server| server.environment);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(environment, Some(vec![pair("A", "b"), pair("N", "1"), pair("T", "true")]));
        let url = ClientServer::of(&json!({ "type": "http", "url": "https://x" })).ok();
        assert!(url.is_some_and(|server| server.start == ClientStart::Url));
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
        ] {
            let why = ClientServer::of(&entry).err();
            assert!(why.is_some_and(|why| !why.contains("canary")), "{entry}");
        }
    }
}
