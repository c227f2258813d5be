//! Builds approval requests, for a call or for a resource that a running call asks for, and their bindings.

use super::grant::{bound_lines, describe_handles};
use super::rejection::Rejection;
use crate::approvals::{ApprovalBinding, ApprovalCase, Asker, Concern, Times, proposals, resource_arguments};
use crate::approver::{PlannedCall, Question, Subject};
use crate::json;
use crate::ledger;
use crate::origin::RequestOrigin;
use crate::outputs::session_name;
use crate::reply::Code;
use crate::text::{cut, new_id};
use crate::valid_call::ValidCall;
use portcullis_definitions::tool;
use portcullis_policy::{Decision, Pattern, Payloads, Permission, Permissions, Targets, Variation, Verdict};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Maximum length of the arguments that a remembered approval shows to people, in bytes. The approval itself is bound
/// to all of them.
const COVERED_BYTES_MAX: usize = 512;

/// A resource that a running call asks for.
#[derive(Clone)]
pub(super) struct AskedResource {
    pub(super) permission: Permission,
    pub(super) resource: String,
    pub(super) reason: String,
    /// The directories of resources that the tool proposes for a remembered approval.
    pub(super) patterns: Vec<String>,
    /// Whether only a person can allow it, for this time only: no rule and no remembered approval.
    pub(super) by_person: bool,
}

impl AskedResource {
    /// Returns the verdict, or that a person is needed.
    pub(super) fn asked_if_allowed(&self, verdict: Verdict) -> Verdict {
        if !self.by_person || verdict.decision != Decision::Allow {
            return verdict;
        }
        let reason = Arc::from("only a person can allow this, for this time");
        Verdict { decision: Decision::Ask, source: verdict.source, reason }
    }
}

/// The reasons why a call needs approval.
pub(super) struct Reasons {
    pub(super) subject: ledger::QuestionSubject,
    /// All reasons, as the approver reads them.
    pub(super) text: String,
    /// Whether one of the reasons comes from the policy or from a fixed rule of the host.
    pub(super) by_host: bool,
}

/// Builds the approval request for a call.
pub(super) fn about_call(
    origin: &RequestOrigin,
    call: &ValidCall,
    id: &str,
    reasons: Reasons,
    concerns: Vec<Concern>,
) -> Result<ApprovalCase, Rejection> {
    let patterns = Pattern::offers(&call.arguments, call.tool.schema().document());
    let Reasons { subject, text, by_host } = reasons;
    let shown = match subject {
        ledger::QuestionSubject::Repeat => Subject::Repeat,
        ledger::QuestionSubject::Call | ledger::QuestionSubject::Resource => Subject::Call,
    };
    let proposed = |(asker, pattern): (Asker, &Pattern)| asker.describe(pattern);
    let offers = patterns.iter().map(ToString::to_string).chain(proposals(&concerns).map(proposed)).collect();
    let (permissions, covered) = (call.tool.permissions(), call.arguments.clone());
    let asked = About { subject, shown, permissions, covered, patterns, offers, by_host, concerns };
    case(origin, call, id, asked, text)
}

/// Builds the approval request for a resource that a running call asks for.
pub(super) fn about_resource(
    origin: &RequestOrigin,
    call: &ValidCall,
    id: &str,
    asked: AskedResource,
    reason: String,
) -> Result<ApprovalCase, Rejection> {
    let covered = resource_arguments(&asked.resource);
    let afresh = asked.by_person;
    let mut patterns = if afresh { Vec::new() } else { Pattern::offers(&covered, &Value::Null) };
    let mut offers: Vec<String> = patterns.iter().map(ToString::to_string).collect();
    // `within` accepts only directories that contain the resource, so none is wider than the host's widest offer.
    for pattern in asked.patterns.iter().filter_map(|directory| within(&covered, directory)) {
        if !patterns.contains(&pattern) {
            offers.push(format!("{pattern} (proposed by the plugin)"));
            patterns.push(pattern);
        }
    }
    let shown = Subject::Resource {
        permission: asked.permission.as_str().to_owned(),
        resource: asked.resource,
        reason: asked.reason,
        by_host: asked.by_person,
    };
    let permissions = asked.permission.into();
    let (subject, concerns) = (ledger::QuestionSubject::Resource, Vec::new());
    let asked = About { subject, shown, permissions, covered, patterns, offers, by_host: true, concerns };
    Ok(ApprovalCase { afresh, ..case(origin, call, id, asked, reason)? })
}

/// Builds the approval request for calls that a running call plans to make.
pub(super) fn about_calls(
    origin: &RequestOrigin,
    call: &ValidCall,
    id: &str,
    planned: Vec<PlannedCall>,
    (handles, reason): (Vec<String>, String),
) -> Result<ApprovalCase, Rejection> {
    let shown_call = |call: &PlannedCall| format!(r#"{{"tool":"{}","arguments":{}}}"#, call.tool, call.arguments);
    let arguments = format!("[{}]", planned.iter().map(shown_call).collect::<Vec<_>>().join(","));
    let permissions = call.tool.permissions();
    let (subject, covered) = (ledger::QuestionSubject::Resource, resource_arguments(&arguments));
    let (patterns, offers, concerns) = (Vec::new(), Vec::new(), Vec::new());
    let shown = Subject::Calls(planned);
    let asked = About { subject, shown, permissions, covered, patterns, offers, by_host: true, concerns };
    let mut case = ApprovalCase { afresh: true, ..case(origin, call, id, asked, reason)? };
    (case.question.arguments, case.question.handles) = (arguments, handles);
    // The places in the case are those of the calling call. Each planned call has its own.
    case.question.targets = Targets::default();
    Ok(case)
}

/// Returns the pattern for everything in a directory of resources, if the requested resource is in it.
fn within(covered: &Map<String, Value>, directory: &str) -> Option<Pattern> {
    let variation = |argument: &String| Variation { argument: argument.clone(), within: Some(directory.to_owned()) };
    Pattern::varying(covered, &covered.keys().map(variation).collect::<Vec<_>>())
}

/// Returns the binding of an approval of a call.
pub(super) fn binding_of_call(
    origin: &RequestOrigin,
    call: &ValidCall,
    subject: ledger::QuestionSubject,
) -> ApprovalBinding {
    binding(origin, call, subject, call.tool.permissions())
}

/// Returns the session's name in the ledger.
pub(super) fn session(origin: &RequestOrigin) -> String {
    session_name(&origin.session)
}

/// The parts of an approval request that depend on its kind.
struct About {
    subject: ledger::QuestionSubject,
    shown: Subject,
    permissions: Permissions,
    covered: Map<String, Value>,
    patterns: Vec<Pattern>,
    /// The host's patterns as an approver reads them, followed by the proposed patterns.
    offers: Vec<String>,
    by_host: bool,
    concerns: Vec<Concern>,
}

fn binding(
    origin: &RequestOrigin,
    call: &ValidCall,
    subject: ledger::QuestionSubject,
    permissions: Permissions,
) -> ApprovalBinding {
    let hashes = (&*call.plugin.sha256_hex, &**tool::sha256_hex(&call.tool));
    let grants = bound_lines(&call.policy.policy, &call.plugin, &call.tool);
    let caller = origin.caller();
    ApprovalBinding::new(subject, call.tool.name(), hashes, permissions, grants, (caller.principal, caller.origin()))
}

/// Cuts the arguments that a remembered approval covers.
fn shown_to_people(text: &str) -> String {
    let shown = cut(text, COVERED_BYTES_MAX);
    format!("{shown}{}", if shown.len() < text.len() { "…" } else { "" })
}

fn case(
    origin: &RequestOrigin,
    call: &ValidCall,
    id: &str,
    asked: About,
    reason: String,
) -> Result<ApprovalCase, Rejection> {
    let Some(question_id) = new_id() else {
        let message = "The call was not made: the system provides no randomness, so its approval request has no id.";
        return Err(Rejection::new(Code::RecordUnavailable, message));
    };
    let binding = binding(origin, call, asked.subject, asked.permissions);
    let question = Question {
        id: question_id,
        call: id.to_owned(),
        session: session(origin),
        principal: origin.principal.to_string(),
        origin: origin.caller().origin().as_str().to_owned(),
        agent: origin.agent.as_deref().map(str::to_owned),
        called_by: Vec::new(),
        tool: call.tool.name().clone(),
        plugin_sha256: call.plugin.sha256_hex.to_string(),
        permissions: call.tool.permissions(),
        arguments: call.canonical.clone(),
        targets: call.targets(),
        handles: describe_handles(&call.policy.policy, &call.plugin, &call.tool, Some(&call.arguments)),
        subject: asked.shown,
        reason,
        changed: None,
        difference: None,
        offers: asked.offers,
    };
    // Remove secrets before the cut, because the cut could divide one.
    let covered_text = shown_to_people(&call.policy.network.redact(json::canonical(&asked.covered)));
    let policy = &call.policy.policy;
    let (approvals, limits) = (policy.approvals(), policy.limits(&call.plugin.name));
    let keeps_payloads = policy.record().payloads == Payloads::Keep;
    Ok(ApprovalCase {
        question,
        subject: asked.subject,
        binding,
        covered: asked.covered,
        patterns: asked.patterns,
        by_host: asked.by_host,
        concerns: asked.concerns,
        preview: None,
        afresh: false,
        automated: origin.automated,
        message: origin.message.as_deref().map(str::to_owned),
        agent: origin.agent.as_deref().map(str::to_owned),
        model: origin.model.as_deref().map(str::to_owned),
        toolset: origin.toolset.as_deref().map(str::to_owned),
        keeps_payloads,
        difference_redactor: keeps_payloads.then(|| call.policy.network.clone()),
        covered_text,
        notify: Arc::from(policy.notify()),
        times: Times {
            waiting: limits.approval_time,
            leaving: None,
            pending: approvals.pending_time,
            session: approvals.session_time,
            always: approvals.always_time,
        },
        asked_under: None,
    })
}
