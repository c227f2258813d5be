//! The approved calls of the audit log, with the places that they name.

use super::left_out::LeftOut;
use crate::audit_log::{open_log, tell_fault};
use crate::context::Context;
use crate::exit_code::Exit;
use portcullis::audit::Entry;
use portcullis::plugins::Catalog;
use portcullis::policy::ToolName;
use portcullis_policy_edit::ApprovedCall;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum calls that wait for their answer while the log is read. More would not fit into a review anyway.
const OPEN_CALLS_MAX: usize = 100_000;

/// The principal of calls that name none. A rule for another one would apply to everyone.
const PRINCIPAL_DEFAULT: &str = "local";

/// The subject of an approval request about a whole call, as entries spell it.
const SUBJECT_CALL: &str = "the call";

/// Names of arguments that name a place, if the log has the arguments but not the targets.
const PLACES: [&str; 14] = [
    "dir",
    "directory",
    "file",
    "file_path",
    "filename",
    "filepath",
    "folder",
    "path",
    "endpoint",
    "href",
    "link",
    "uri",
    "url",
    "resource",
];

/// What the audit log says about approved calls.
#[derive(Default)]
pub(super) struct Evidence {
    pub(super) calls: Vec<ApprovedCall>,
    pub(super) left_out: Vec<LeftOut>,
}

/// A call that the policy asked about.
struct AskedCall {
    tool: String,
    principal: String,
    /// The places, or none if the log has only a digest of the arguments.
    targets: Option<BTreeMap<String, String>>,
}

impl Evidence {
    /// Reads the audit log, and says if it was changed. Returns the exit code for that too. A state directory without a
    /// log has no evidence.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) async fn read(context: &Context, catalog: Option<&Catalog>) -> anyhow::Result<(Self, Exit)> {
        let state = context.environment.state()?;
        if !state.is_dir() {
            return Ok((Self::default(), Exit::Completed));
        }
        let (mut asked, mut approved) = (HashMap::new(), Vec::new());
        let each = |entry: Entry| {
            look(&entry.document, &mut asked, &mut approved);
            Ok(())
        };
        let verified = open_log(context).await?.read(each).await?;
        let exit = tell_fault(&verified, context);
        if verified.fault.is_some() {
            context.terminal.note("calls after this entry are not considered: run `portcullis audit verify`");
        }
        Ok((Self::of(approved, catalog), exit))
    }

    fn of(approved: Vec<AskedCall>, catalog: Option<&Catalog>) -> Self {
        let mut evidence = Self::default();
        let mut left: BTreeMap<(String, String), usize> = BTreeMap::new();
        for AskedCall { tool, principal, targets } in approved {
            // Without a catalog, it is not known which tools are installed.
            let installed =
                catalog.is_none_or(|catalog| catalog.tools().any(|(_, known)| known.name().to_string() == tool));
            let why = match (tool.parse::<ToolName>(), targets) {
                (Err(_), _) => "it is not the name of a tool".to_owned(),
                (Ok(_), _) if !installed => "the tool is not installed any more".to_owned(),
                (Ok(_), _) if principal != PRINCIPAL_DEFAULT => {
                    format!("approved for {principal}, and a rule would apply to everyone")
                }
                (Ok(_), None) => "the audit log has only digests of the arguments".to_owned(),
                (Ok(_), Some(targets)) if targets.is_empty() => {
                    "no argument names a path or a URL, and a rule for all arguments would be too wide".to_owned()
                }
                (Ok(tool), Some(targets)) => {
                    evidence.calls.push(ApprovedCall { tool, targets });
                    continue;
                }
            };
            *left.entry((tool, why)).or_default() += 1;
        }
        let counted = |((tool, why), calls): ((String, String), usize)| {
            let calls = if calls == 1 { "1 approved call".to_owned() } else { format!("{calls} approved calls") };
            LeftOut { tool, why: format!("{calls}: {why}") }
        };
        evidence.left_out = left.into_iter().map(counted).collect();
        evidence
    }
}

/// Notes a decision that asks, and an answer that approves.
fn look(document: &Value, asked: &mut HashMap<String, AskedCall>, approved: &mut Vec<AskedCall>) {
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    let Some(call) = text("call") else { return };
    match (text("kind"), text("decision"), text("answer")) {
        (Some("decision"), Some("ask"), _) if asked.len() < OPEN_CALLS_MAX => {
            let tool = text("tool").unwrap_or_default().to_owned();
            let principal = text("principal").unwrap_or(PRINCIPAL_DEFAULT).to_owned();
            asked.insert(call.to_owned(), AskedCall { tool, principal, targets: targets(document) });
        }
        // An approval of something that a running call asked for does not cover another call.
        (Some("answer"), _, Some("yes" | "session" | "always")) if text("subject") == Some(SUBJECT_CALL) => {
            approved.extend(asked.remove(call));
        }
        // A call that waits ends as pending, and its answer comes later.
        (Some("outcome"), _, _) if text("outcome") != Some("pending") => drop(asked.remove(call)),
        (_, _, _) => {}
    }
}

/// Returns the places that a call names: as the log has them, or from the arguments that it keeps.
fn targets(document: &Value) -> Option<BTreeMap<String, String>> {
    if let Some(targets) = document.get("targets").and_then(Value::as_object) {
        let place = |(pointer, text): (&String, &Value)| Some((argument(pointer), text.as_str()?.to_owned()));
        return Some(targets.iter().filter_map(place).collect());
    }
    let kept: Map<String, Value> = serde_json::from_str(document.get("arguments")?.as_str()?).ok()?;
    let names: BTreeSet<&str> = PLACES.into_iter().collect();
    let place = |(name, value): (&String, &Value)| {
        names.contains(name.as_str()).then(|| Some((name.clone(), value.as_str()?.to_owned())))?
    };
    Some(kept.iter().filter_map(place).collect())
}

/// Returns a JSON Pointer as rules name the argument: a top-level argument by its name.
fn argument(pointer: &str) -> String {
    match pointer.strip_prefix('/') {
        Some(name) if !name.contains(['/', '~']) => name.to_owned(),
        Some(_) | None => pointer.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn approved(lines: &[Value]) -> Evidence {
        let (mut asked, mut approved) = (HashMap::new(), Vec::new());
        for line in lines {
            look(line, &mut asked, &mut approved);
        }
        Evidence::of(approved, None)
    }

    fn decision(more: &Value) -> Value {
        let mut line = json!({ "kind": "decision", "call": "1", "decision": "ask", "tool": "files.write" });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    }

    #[test]
    fn targets_and_kept_arguments_are_evidence_and_digests_are_left_out() {
        let yes = json!({ "kind": "answer", "call": "1", "answer": "yes", "subject": "the call" });
        let cases = [
            (json!({ "targets": { "/path": "a/b" } }), Some("path")),
            (json!({ "arguments": "{\"path\":\"a/b\",\"content\":\"x\"}" }), Some("path")),
            (json!({ "targets": { "/a/b": "a/b" } }), Some("/a/b")),
            (json!({}), None),
            (json!({ "targets": {} }), None),
            (json!({ "targets": { "/path": "a/b" }, "principal": "alice" }), None),
        ];
        for (more, name) in cases {
            let evidence = approved(&[decision(&more), yes.clone()]);
            let names: Vec<&str> =
                evidence.calls.iter().flat_map(|call| call.targets.keys().map(String::as_str)).collect();
            assert_eq!(names, name.into_iter().collect::<Vec<_>>(), "{more}");
            assert_eq!(evidence.left_out.len(), usize::from(name.is_none()), "{more}");
        }
    }

    #[test]
    fn a_call_that_was_approved_after_it_ended_as_pending_is_evidence() {
        let pending = json!({ "kind": "outcome", "call": "1", "outcome": "pending" });
        let yes = json!({ "kind": "answer", "call": "1", "answer": "yes", "subject": "the call" });
        let asked = decision(&json!({ "targets": { "/path": "a/b" } }));
        assert_eq!(approved(&[asked, pending, yes]).calls.len(), 1);
    }

    #[test]
    fn a_rejected_or_unanswered_call_is_no_evidence() {
        for answer in ["no", "expired"] {
            let line = json!({ "kind": "answer", "call": "1", "answer": answer, "subject": "the call" });
            let evidence = approved(&[decision(&json!({ "targets": { "/path": "a" } })), line]);
            assert!(evidence.calls.is_empty() && evidence.left_out.is_empty());
        }
    }
}
