//! Says in words who wants what. The words are the host's; the names in them come from callers, plugins and models.

use portcullis::Question;
use portcullis::approvals::Subject;
use portcullis::policy::Targets;
use serde_json::{Map, Value};

/// Names of tools that are verbs, and so can stand in a sentence. Every other tool is used.
const VERBS: [&str; 30] = [
    "add", "append", "apply", "archive", "build", "commit", "copy", "create", "delete", "deploy", "download", "edit",
    "fetch", "find", "forget", "install", "list", "move", "post", "publish", "push", "read", "remove", "rename", "run",
    "search", "send", "sign", "upload", "write",
];

/// Arguments that name what a call is about, the most telling first.
const TARGETS: [&str; 12] =
    ["path", "url", "command", "program", "file", "key", "to", "from", "host", "repository", "query", "name"];

/// A sentence in three parts, and none of them encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub(crate) who: String,
    pub(crate) wants: String,
    pub(crate) target: Option<String>,
}

/// Returns who wants what.
pub(crate) fn sentence(question: &Question) -> Sentence {
    let who = question.agent.clone().unwrap_or_else(|| question.principal.clone());
    match &question.subject {
        Subject::Call => Sentence { who, wants: format!("wants to {}", verb(question)), target: target(question) },
        Subject::Repeat => {
            Sentence { who, wants: format!("wants to {} once more", verb(question)), target: target(question) }
        }
        Subject::Resource { permission, resource, .. } => {
            let wants = format!("runs {} and asks to {permission}", question.tool);
            Sentence { who, wants, target: Some(resource.clone()) }
        }
    }
}

fn verb(question: &Question) -> String {
    let tool = question.tool.to_string();
    let name = tool.rsplit('.').next().unwrap_or_default();
    if VERBS.contains(&name) { name.to_owned() } else { format!("use {tool}") }
}

/// Returns the argument that names what a call is about.
pub(crate) fn target(question: &Question) -> Option<String> {
    of_arguments(&question.arguments).or_else(|| of_targets(&question.targets))
}

/// Returns the first of the places that a call names.
pub(crate) fn of_targets(targets: &Targets) -> Option<String> {
    targets.iter().next().map(|(_, text)| text.to_owned())
}

/// Returns the argument that names what a call is about, from its arguments as JSON.
pub(crate) fn of_arguments(arguments: &str) -> Option<String> {
    let members: Map<String, Value> = serde_json::from_str(arguments).ok()?;
    let named = TARGETS.iter().find_map(|name| members.get(*name).and_then(text));
    named.or_else(|| members.values().find_map(text))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            items.filter(|items| !items.is_empty()).map(|items| items.join(" "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_argument_is_the_target() {
        let rows = [
            (r#"{"new":"x","old":"y","path":"src/main.rs"}"#, Some("src/main.rs")),
            (r#"{"arguments":["cargo","test"],"count":3}"#, Some("cargo test")),
            (r#"{"url":"https://example.org/"}"#, Some("https://example.org/")),
            (r#"{"count":3}"#, None),
            ("{}", None),
            ("[", None),
        ];
        for (arguments, target) in rows {
            assert_eq!(of_arguments(arguments).as_deref(), target, "{arguments}");
        }
    }
}
