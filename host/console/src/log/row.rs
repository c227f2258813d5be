//! One call, from its entries in the audit log. Texts are cut, because the page of a call reads all of them again.

use crate::words;
use portcullis::audit::Entry;
use serde_json::Value;

/// Maximum bytes of a text of a row.
const TEXT_BYTES_MAX: usize = 512;

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallRow {
    pub(crate) call: String,
    /// When it was decided, in milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) tool: String,
    pub(crate) principal: String,
    pub(crate) agent: Option<String>,
    pub(crate) session: String,
    /// What the call is about, as far as the log keeps it.
    pub(crate) target: Option<String>,
    pub(crate) decision: String,
    /// The line of the rule that decided, in the user's policy. `None` for a rule of another layer.
    pub(crate) line: Option<u64>,
    pub(crate) policy_sha256: String,
    pub(crate) reason: String,
    /// The answers of approvers: `yes`, `session`, `always`, `no`, `expired` or `remembered`.
    pub(crate) answers: Vec<String>,
    pub(crate) outcome: Option<CallOutcome>,
}

/// The outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallOutcome {
    pub(crate) outcome: String,
    pub(crate) code: String,
    pub(crate) microseconds: u64,
}

impl CallRow {
    pub(crate) fn new(call: &str) -> Self {
        Self { call: call.to_owned(), ..Self::default() }
    }

    /// Returns who makes the call.
    pub(crate) fn caller(&self) -> &str {
        self.agent.as_deref().unwrap_or(&self.principal)
    }
}

/// Returns the call that an entry is about.
pub(super) fn call(entry: &Entry) -> Option<&str> {
    let kind = entry.document.get("kind").and_then(Value::as_str)?;
    if matches!(kind, "decision" | "answer" | "outcome") { entry.document.get("call")?.as_str() } else { None }
}

/// Adds what an entry says to the row of its call.
pub(super) fn of_entry(row: &mut CallRow, entry: &Entry) {
    let text = |name: &str| entry.document.get(name).and_then(Value::as_str);
    let kept = |name: &str| text(name).map(cut).unwrap_or_default();
    // The first entry of a call is its decision. A later one must not move the call in the list.
    if row.at == 0 {
        row.at = text("time").and_then(milliseconds).unwrap_or_default();
    }
    if let Some(tool) = text("tool") {
        row.tool = cut(tool);
        (row.principal, row.session) = (kept("principal"), kept("session"));
        row.agent = text("agent").map(cut);
        let kept = text("arguments").and_then(words::of_arguments);
        let place = || entry.document.get("targets").and_then(Value::as_object)?.values().find_map(Value::as_str);
        row.target = kept.as_deref().or_else(place).map(cut);
    }
    match text("kind") {
        Some("decision") => {
            (row.decision, row.reason) = (kept("decision"), kept("reason"));
            row.policy_sha256 = kept("policy_sha256");
            // An entry names its layer only if that is not the user's.
            row.line = entry.document.get("line").and_then(Value::as_u64).filter(|_| text("layer").is_none());
        }
        Some("answer") => row.answers.push(kept("answer")),
        Some("outcome") => {
            let microseconds = entry.document.get("wall_us").and_then(Value::as_u64).unwrap_or_default();
            row.outcome = Some(CallOutcome { outcome: kept("outcome"), code: kept("code"), microseconds });
        }
        Some(_) | None => {}
    }
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned()
}

fn milliseconds(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_of_another_layer_is_not_one_of_the_users_policy() {
        for (layer, line) in [(Value::Null, Some(7)), (json!("project"), None), (json!("built-in"), None)] {
            let document = json!({ "kind": "decision", "call": "c", "decision": "deny", "line": 7, "layer": layer });
            let mut row = CallRow::new("c");
            of_entry(&mut row, &Entry { sequence: 1, document });
            assert_eq!(row.line, line, "{layer}");
        }
    }
}
