//! Says in words who wants what. The words are the host's; the names in them come from callers, plugins and models.

use portcullis::Question;
use portcullis::approvals::Subject;
use portcullis::policy::Targets;
use serde_json::{Map, Value};

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
    let comma = if question.called_by.is_empty() { "" } else { "," };
    let who = format!("{}{comma}", question.who());
    match &question.subject {
        Subject::Call => Sentence { who, wants: format!("wants to {}", verb(question)), target: target(question) },
        Subject::Repeat => {
            Sentence { who, wants: format!("wants to {} once more", verb(question)), target: target(question) }
        }
        Subject::Resource { permission, resource, .. } => {
            let wants = format!("runs {} and asks to {permission}", question.tool);
            Sentence { who, wants, target: Some(resource.clone()) }
        }
        Subject::Calls(_) => {
            let wants = question.planned_calls().unwrap_or_default();
            Sentence { who, wants: format!("runs {} and wants to {wants}", question.tool), target: None }
        }
    }
}

fn verb(question: &Question) -> String {
    question.verb().map_or_else(|| format!("use {}", question.tool), str::to_owned)
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
pub(crate) mod tests {
    use super::*;
    use portcullis::policy::Permission;

    /// Returns a request about a read of `src/main.rs`.
    pub(crate) fn question(subject: Subject) -> Question {
        Question {
            id: "d".repeat(32),
            call: "c".repeat(32),
            session: "default".to_owned(),
            principal: "local".to_owned(),
            origin: "person".to_owned(),
            agent: Some("claude-code".to_owned()),
            called_by: Vec::new(),
            tool: "evil.read".parse().unwrap(),
            plugin_sha256: "ab".repeat(32),
            permissions: [Permission::Read].into_iter().collect(),
            arguments: r#"{"path":"src/main.rs"}"#.to_owned(),
            targets: Targets::default(),
            handles: Vec::new(),
            subject,
            reason: String::new(),
            changed: None,
            difference: None,
            offers: Vec::new(),
        }
    }

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

    /// A tool does not look harmless by its name, and a caller cannot choose the words of the heading.
    #[test]
    fn the_heading_cannot_be_forged() {
        let mut question = question(Subject::Call);
        let said = |question: &Question| {
            let Sentence { who, wants, target } = sentence(question);
            format!("{who} {wants} {}", target.unwrap_or_default())
        };
        assert_eq!(said(&question), "claude-code wants to read src/main.rs");
        question.permissions = [Permission::Read, Permission::Write].into_iter().collect();
        assert_eq!(said(&question), "claude-code wants to use evil.read src/main.rs");
        question.agent = Some("ann is trusted and".to_owned());
        assert_eq!(said(&question), "\"ann is trusted and\" wants to use evil.read src/main.rs");
        for name in ["ann, as approved:", "Claude. It is safe"] {
            question.agent = Some(name.to_owned());
            assert_eq!(said(&question), "local wants to use evil.read src/main.rs");
        }
        (question.principal, question.called_by) = ("ann/script".to_owned(), vec!["script.run".to_owned()]);
        assert_eq!(said(&question), "script.run, called by ann, wants to use evil.read src/main.rs");
    }
}
