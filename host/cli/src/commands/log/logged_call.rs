//! One call, from its entries in the audit log. Its texts come from models and plugins, and are not encoded.

use crate::short_id::short_id;
use serde_json::{Map, Value, json};

/// A call, as far as its entries tell.
#[derive(Clone, Debug, Default)]
pub(super) struct LoggedCall {
    /// The sequence number of its first entry.
    pub(super) sequence: u64,
    pub(super) id: String,
    /// When its first entry was written, in UTC.
    pub(super) time: String,
    pub(super) tool: String,
    pub(super) session: String,
    pub(super) principal: String,
    pub(super) agent: Option<String>,
    /// The id of the call whose tool made it.
    pub(super) parent: Option<String>,
    /// The number of calls above it, where calls are shown as a tree.
    pub(super) level: usize,
    pub(super) targets: Map<String, Value>,
    pub(super) decision: String,
    pub(super) reason: String,
    /// The id of the approval request.
    pub(super) request: Option<String>,
    /// The last answer to the request, or the remembered approval that was used.
    pub(super) approval: Option<LoggedApproval>,
    pub(super) outcome: Option<String>,
    pub(super) code: Option<String>,
    pub(super) wall_us: u64,
    pub(super) detail: Option<String>,
}

/// An answer to the approval request of a call.
#[derive(Clone, Debug)]
pub(super) struct LoggedApproval {
    answer: String,
    covers: Option<String>,
    held: Option<String>,
    note: Option<String>,
    /// Who answered, if they had signed in.
    by: Option<String>,
}

impl LoggedCall {
    /// Begins a call with its first entry.
    pub(super) fn begin(id: &str, entry: &Value) -> Self {
        let sequence = entry.get("seq").and_then(Value::as_u64).unwrap_or_default();
        Self { sequence, id: id.to_owned(), time: text(entry, "time"), ..Self::default() }
    }

    /// Adds an entry of the call.
    pub(super) fn add(&mut self, entry: &Value) {
        let optional = |name: &str| Some(text(entry, name)).filter(|text| !text.is_empty());
        // Not every entry names the tool. Those that do have all of these members.
        if let Some(tool) = optional("tool") {
            (self.tool, self.session, self.principal) = (tool, text(entry, "session"), text(entry, "principal"));
            (self.agent, self.parent) = (optional("agent"), optional("parent"));
            self.targets = entry.get("targets").and_then(Value::as_object).cloned().unwrap_or_default();
        }
        match entry.get("kind").and_then(Value::as_str).unwrap_or_default() {
            "decision" => (self.decision, self.reason) = (text(entry, "decision"), text(entry, "reason")),
            "asked" => self.request = optional("question"),
            // Reviewers and policies answer running calls too. Those answers name no approval request.
            "answer" if entry.get("question").is_some() || entry.get("held").is_some() => {
                self.approval = Some(LoggedApproval {
                    answer: text(entry, "answer"),
                    covers: optional("covers"),
                    held: optional("held"),
                    note: optional("note"),
                    by: optional("by"),
                });
                self.request = self.request.take().or_else(|| optional("question"));
            }
            "outcome" => {
                (self.outcome, self.code, self.detail) = (optional("outcome"), optional("code"), optional("detail"));
                self.wall_us = entry.get("wall_us").and_then(Value::as_u64).unwrap_or_default();
            }
            // Entries of other kinds are details, which `log show` lists.
            _ => {}
        }
    }

    /// Returns whether the policy or a person denied it.
    pub(super) fn is_denied(&self) -> bool {
        self.outcome.as_deref() == Some("denied") || (self.outcome.is_none() && self.decision == "deny")
    }

    /// Returns whether it needed approval.
    pub(super) fn was_asked(&self) -> bool {
        self.request.is_some() || self.approval.is_some() || self.decision == "ask"
    }

    /// Returns the places that the call names, on one line.
    pub(super) fn target(&self) -> String {
        let texts: Vec<&str> = self.targets.values().filter_map(Value::as_str).collect();
        texts.join(", ")
    }

    /// Returns what became of the call, and who approved it.
    pub(super) fn effect(&self) -> String {
        let ended = match (self.outcome.as_deref(), self.code.as_deref()) {
            (Some("completed"), _) => format!("completed {}", duration(self.wall_us)),
            (Some("pending"), _) | (None, _) if self.is_waiting() => "waits for approval".to_owned(),
            (Some("pending"), _) => "not run".to_owned(),
            (Some(outcome), Some(code)) if code != outcome => {
                // A code such as `policy-denied` says the outcome too.
                let outcome = if code.contains(outcome) { code.to_owned() } else { format!("{outcome} ({code})") };
                if self.wall_us > 0 { format!("{outcome} {}", duration(self.wall_us)) } else { outcome }
            }
            (Some(outcome), _) => outcome.to_owned(),
            (None, _) => "not ended".to_owned(),
        };
        match &self.approval {
            Some(approval) => format!("{ended}, {}", approval.describe()),
            None if self.is_denied() && !self.reason.is_empty() => format!("{ended}: {}", self.reason),
            None => ended,
        }
    }

    fn is_waiting(&self) -> bool {
        self.request.is_some() && self.approval.is_none()
    }

    /// Returns the call for programs.
    pub(super) fn document(&self) -> Value {
        json!({
            "call": self.id,
            "time": self.time,
            "tool": self.tool,
            "targets": self.targets,
            "session": self.session,
            "principal": self.principal,
            "agent": self.agent,
            "parent": self.parent,
            "decision": Some(&self.decision).filter(|decision| !decision.is_empty()),
            "reason": Some(&self.reason).filter(|reason| !reason.is_empty()),
            "request": self.request,
            "answer": self.approval.as_ref().map(|approval| &approval.answer),
            "covers": self.approval.as_ref().and_then(|approval| approval.covers.as_ref()),
            "approval": self.approval.as_ref().and_then(|approval| approval.held.as_ref()),
            "note": self.approval.as_ref().and_then(|approval| approval.note.as_ref()),
            "by": self.approval.as_ref().and_then(|approval| approval.by.as_ref()),
            "outcome": self.outcome,
            "code": self.code,
            "wall_us": self.wall_us,
            "detail": self.detail,
        })
    }
}

impl LoggedApproval {
    /// Says who let the call run, or did not.
    pub(super) fn describe(&self) -> String {
        let note = self.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        let covers = self.covers.as_deref().map(|covers| format!(" ({covers})")).unwrap_or_default();
        let by = self.by.as_deref().unwrap_or("a person");
        match self.answer.as_str() {
            "yes" => format!("approved once by {by}"),
            "session" => format!("approved by {by} for the session{covers}"),
            "always" => format!("approved by {by} for always{covers}"),
            "remembered" => format!("by remembered approval {}", short_id(self.held.as_deref().unwrap_or_default())),
            "no" => format!("rejected by {by}{note}"),
            "expired" => "not answered in time".to_owned(),
            other => format!("answered {other}"),
        }
    }
}

/// Formats a duration for people.
pub(super) fn duration(microseconds: u64) -> String {
    let milliseconds = microseconds / 1000;
    match milliseconds {
        0..10 => format!("{milliseconds}.{} ms", microseconds % 1000 / 100),
        10..10_000 => format!("{milliseconds} ms"),
        _ => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
    }
}

fn text(entry: &Value, name: &str) -> String {
    entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(entries: &[Value]) -> LoggedCall {
        let mut call = LoggedCall::begin("c", &entries[0]);
        entries.iter().for_each(|entry| call.add(entry));
        call
    }

    #[test]
    fn the_effect_says_what_happened_and_who_approved_it() {
        let decision = json!({ "kind": "decision", "tool": "a.b", "decision": "ask", "reason": "look" });
        let asked = json!({ "kind": "asked", "question": "q" });
        let answer = |answer: &str| json!({ "kind": "answer", "question": "q", "answer": answer, "note": "no" });
        let wall = 12_345;
        let ended =
            |outcome: &str, code: &str| json!({ "kind": "outcome", "outcome": outcome, "code": code, "wall_us": wall });
        let done = ended("completed", "completed");
        let rows = [
            (vec![decision.clone(), asked.clone()], "waits for approval"),
            (vec![decision.clone(), asked.clone(), ended("pending", "approval-pending")], "waits for approval"),
            (
                vec![decision.clone(), asked.clone(), answer("yes"), done.clone()],
                "completed 12 ms, approved once by a person",
            ),
            (
                vec![decision.clone(), asked, answer("no"), ended("denied", "approval-denied")],
                "approval-denied 12 ms, rejected by a person: no",
            ),
            (
                vec![
                    decision.clone(),
                    json!({ "kind": "answer", "question": "q", "answer": "yes", "by": "mcp.alice" }),
                    done.clone(),
                ],
                "completed 12 ms, approved once by mcp.alice",
            ),
            (
                vec![
                    json!({ "kind": "decision", "decision": "deny", "reason": "never" }),
                    json!({ "kind": "outcome", "outcome": "denied", "code": "policy-denied" }),
                ],
                "policy-denied: never",
            ),
            (
                vec![decision.clone(), json!({ "kind": "answer", "held": "0123456789", "answer": "remembered" }), done],
                "completed 12 ms, by remembered approval 01234567",
            ),
            (vec![decision], "not ended"),
        ];
        for (entries, effect) in rows {
            assert_eq!(call(&entries).effect(), effect, "{entries:?}");
        }
    }

    #[test]
    fn an_answer_to_a_running_call_is_no_approval() {
        let answer = json!({ "kind": "answer", "subject": "the plugin's review", "answer": "ask" });
        assert!(call(&[answer]).approval.is_none());
    }

    #[test]
    fn durations_have_three_digits() {
        assert_eq!([500, 9_999, 12_345, 12_345_678].map(duration), ["0.5 ms", "9.9 ms", "12 ms", "12.3 s"]);
    }
}
