//! Step 3: decides whether the call may run. The policy decides first. The plugin's reviewer and the hooks can only
//! tighten its decision. If the decision is `ask`, an approver has the last word.

use super::approved::ApprovedCall;
use super::decided_before::decided_before;
use super::disapproval::disapproved;
use super::grant;
use super::hooks;
use super::question::{self, Reasons};
use super::record::CallRecord;
use super::redecide::redecide_left;
use super::rejection::{Rejection, unkept};
use super::review;
use super::unwanted::unwanted;
use super::verdict_text::verdict_text;
use crate::approvals::{
    ApprovalCase, ApprovalError, AskOutcome, AskedUnder, Concern, Observed, RepeatedCalls, RepetitionRow, Ticket,
    WaitingFor,
};
use crate::inner::HostState;
use crate::ledger::{QuestionSubject, blocking};
use crate::origin::RequestOrigin;
use crate::provenance::{Provenance, Repair};
use crate::reply::Code;
use crate::request::Request;
use crate::reserved;
use crate::text::{OneLine, WithCauses, cut};
use crate::valid_call::ValidCall;
use portcullis_definitions::manifest::Verdict as Review;
use portcullis_policy::{Decision, Layer, Leniency, Limits, Pause, Verdict};
use std::sync::Arc;

/// Maximum length of the text of one repair, in bytes.
const REPAIR_BYTES_MAX: usize = 160;

/// Maximum repairs listed per call. An approver would not read a longer list.
const REPAIRS_TOLD_MAX: usize = 8;

impl ValidCall {
    pub(super) async fn authorize(
        self: Arc<Self>,
        host: &Arc<HostState>,
        request: &Request,
        record: &mut CallRecord,
    ) -> Result<ApprovedCall, Rejection> {
        let (verdict, observed) = self.weigh(host, request, record).await?;
        if let Some(question) = &request.resumes {
            // `redeem` checks that the approver saw this call and all of its concerns. So nothing is left to ask.
            record.spend(self.redeem(host, request, question, &observed.concerns).await?);
            return Ok(ApprovedCall { limits: self.limits(), call: self, by_a_person: true });
        }
        let Some(reasons) = self.reasons(&verdict, &observed) else {
            return Ok(ApprovedCall { limits: self.limits(), call: self, by_a_person: false });
        };
        grant::check_answerable(&self)?;
        // Boxed, because the future of every call would have its size, and few calls ask.
        Box::pin(self.ask(host, request, record, &observed, reasons)).await
    }

    /// Decides the call by the policy, counts it, and asks its reviewer and the hooks. A rehearsal does not count.
    pub(super) async fn weigh(
        self: &Arc<Self>,
        host: &Arc<HostState>,
        request: &Request,
        record: &CallRecord,
    ) -> Result<(Verdict, Observed), Rejection> {
        let verdict = self.decide(host, request, record).await?;
        self.count_rate(host, request, record)?;
        // `reasons` asks about a program whose file was replaced, so look at the files first.
        grant::refresh_programs(self).await?;
        if verdict.decision == Decision::Ask && request.resumes.is_none() {
            // Check this before a review or a hook takes time, because no answer would help.
            grant::check_answerable(self)?;
        }
        let mut concerns = match self.review(host, request, record).await? {
            Review::Refuse(reason) => return Err(review::refused(self, &reason)),
            Review::Ask(request) => vec![self.concern(&request)],
            Review::Clear => Vec::new(),
        };
        concerns.extend(hooks::before(host, record, self, request).await?);
        self.check_repair(request.is_repaired())?;
        if self.asks_afresh(request) {
            // An approval of such a call is never remembered, so no patterns are offered.
            concerns.iter_mut().for_each(|concern| concern.patterns.clear());
        }
        let (row, call) = (self.repetition_row(request), (self.tool.name(), &*self.canonical));
        let count = match record.is_rehearsal() {
            true => host.repetition.foresee(row, call),
            false => host.repetition.count(row, call),
        };
        let repaired = request.provenance.as_deref().filter(|from| from.is_repaired()).map(repaired);
        Ok((verdict, Observed { concerns, count, repaired }))
    }

    /// Returns the row in which this call counts as a repetition.
    fn repetition_row<'a>(&self, request: &'a Request) -> RepetitionRow<'a> {
        let RequestOrigin { session, principal, .. } = &request.origin;
        let calls = match self.tool.name() {
            tool if reserved::explains(tool) => RepeatedCalls::Explanations,
            tool if reserved::batches(tool) => RepeatedCalls::Batches,
            _ => RepeatedCalls::Others,
        };
        RepetitionRow { session, principal, calls }
    }

    /// Returns the approval request for the call, with the policy and observations that it was made under.
    pub(super) fn case(
        &self,
        request: &Request,
        id: &str,
        observed: &Observed,
        reasons: Reasons,
    ) -> Result<ApprovalCase, Rejection> {
        let mut case = question::about_call(&request.origin, self, id, reasons, observed.concerns.clone())?;
        case.question.called_by = request.called_by();
        case.afresh = self.asks_afresh(request);
        case.times.leaving = request.approval_wait;
        case.asked_under = Some(AskedUnder { policy_source: self.policy.source.clone(), observed: observed.clone() });
        Ok(case)
    }

    /// Returns whether remembered approvals do not apply to the call. Its arguments were repaired, or no schema checked
    /// them.
    fn asks_afresh(&self, request: &Request) -> bool {
        request.is_repaired() || self.tool.schema().is_absent()
    }

    pub(super) fn limits(&self) -> Limits {
        self.policy.policy.limits(&self.plugin.name)
    }

    /// Decides the call by the policy and records the decision. A deny ends the call.
    pub(super) async fn decide(
        &self,
        host: &HostState,
        request: &Request,
        record: &CallRecord,
    ) -> Result<Verdict, Rejection> {
        // `parse` has checked only the limit of the host. A plugin can have a lower one.
        let bytes_max = self.limits().arguments_bytes;
        if self.canonical.len() > bytes_max {
            return Err(too_long(bytes_max));
        }
        let (policy, question) = (&self.policy.policy, self.question(&request.origin));
        let verdict = policy.decide(&question);
        record.decided(host, &self.policy, &verdict).await?;
        // The denial is recorded by now. A pause has a message of its own, which says how it ends.
        if let Some(pause) = policy.paused() {
            return Err(paused(self, pause));
        }
        if verdict.decision == Decision::Deny {
            return Err(denied(self, &verdict, &policy.alternatives(&question)));
        }
        Ok(verdict)
    }

    /// Returns the reason that the arguments were not checked, if the tool has no schema.
    fn unchecked(&self) -> Option<String> {
        let absent = self.tool.schema().is_absent();
        absent.then(|| "the tool has no schema, so its arguments were not checked".to_owned())
    }

    /// Refuses repaired arguments, unless the policy allows them for the plugin.
    pub(super) fn check_repair(&self, is_repaired: bool) -> Result<(), Rejection> {
        if !is_repaired || self.policy.policy.repair(&self.plugin.name) == Leniency::Ask {
            return Ok(());
        }
        let tool = self.tool.name();
        let message =
            format!("The arguments of {tool} were repaired, and the policy does not allow that. Correct them.");
        let detail = format!("to have an approver decide them, set `[plugin.{}] repair = \"ask\"`", tool.plugin);
        Err(Rejection::new(Code::PolicyDenied, message).with_detail(detail))
    }

    /// Returns why the call needs approval, if it does.
    pub(super) fn reasons(&self, verdict: &Verdict, observed: &Observed) -> Option<Reasons> {
        let Observed { concerns, count, repaired } = observed;
        let mut reasons = Vec::new();
        if verdict.decision == Decision::Ask {
            reasons.push(verdict_text(verdict));
        }
        reasons.extend(grant::unnamed_host(self));
        reasons.extend(grant::replaced_program(self));
        reasons.extend(self.held());
        reasons.extend(concerns.iter().map(|concern| &concern.reason).chain(repaired).cloned());
        reasons.extend(self.unchecked());
        let repeats = *count >= self.policy.policy.approvals().repeats;
        if repeats {
            reasons.push(format!("this session made exactly this call {count} times in a row"));
        }
        let subject = if repeats { QuestionSubject::Repeat } else { QuestionSubject::Call };
        // Each concern adds one reason. Any other reason is of the policy or of the host.
        let by_host = reasons.len() > concerns.len();
        (!reasons.is_empty()).then(|| Reasons { subject, text: reasons.join("; "), by_host })
    }

    /// Asks an approver. Returns if the call is approved, or if a new policy needs no approval. While the call waits,
    /// each new policy decides it again.
    async fn ask(
        self: &Arc<Self>,
        host: &Arc<HostState>,
        request: &Request,
        record: &mut CallRecord,
        observed: &Observed,
        reasons: Reasons,
    ) -> Result<ApprovedCall, Rejection> {
        let case = self.case(request, record.id(), observed, reasons)?;
        if let Some(approved) = decided_before(self, request, record, &case).await? {
            return Ok(approved);
        }
        let channel = host.channel_of(request, &self.policy.policy);
        let stopped = async {
            tokio::select! {
                biased;
                rejection = unwanted(request) => Err(rejection),
                () = self.redecided(host, request, observed) => Ok(AskOutcome::Redecided),
            }
        };
        let preview = || self.preview(host, request, record);
        let asked = host.approvals.ask(&channel, case, preview, || record.waiting(), stopped).await?;
        let by_a_person = match asked {
            AskOutcome::Yes(ticket) => {
                record.spend(ticket);
                true
            }
            // Only a request about several calls can be approved in part.
            AskOutcome::Part { note, .. } => return Err(disapproved(self, note.as_deref())),
            AskOutcome::Redecided => false,
            // A reload can finish between the decision on this call and its request, and then has not seen the request.
            AskOutcome::Pending { .. } if !self.still_waits(&host.catalog(), request, observed) => {
                redecide_left(host).await.map_err(|error| unkept(&error))?;
                false
            }
            AskOutcome::No { note, detail } => return Err(Rejection { detail, ..disapproved(self, note.as_deref()) }),
            AskOutcome::Pending { question, waits_for } => {
                let rejection = pending(host, self, &question, waits_for);
                record.approval_request = Some(question);
                return Err(rejection);
            }
        };
        record.resumed();
        let call = self.under_policy_now(host, request, record, observed, by_a_person).await?;
        if by_a_person {
            host.repetition.reset(self.repetition_row(request));
        }
        Ok(ApprovedCall { limits: call.limits(), call, by_a_person })
    }

    /// Redeems the approval that was given while no call waited.
    async fn redeem(
        &self,
        host: &HostState,
        request: &Request,
        question: &Arc<str>,
        concerns: &[Concern],
    ) -> Result<Option<Ticket>, Rejection> {
        let binding = question::binding_of_call(&request.origin, self, QuestionSubject::Call);
        let (approvals, id) = (host.approvals.clone(), Arc::clone(question));
        let (arguments, session) = (self.arguments.clone(), question::session(&request.origin));
        let concerns = concerns.to_vec();
        let redeem = move || approvals.redeem(&id, &binding, &arguments, &session, &concerns);
        match blocking(redeem).await {
            Ok(ticket) => Ok(Some(ticket)),
            Err(error @ (ApprovalError::Ledger(_) | ApprovalError::Audit(_) | ApprovalError::Unrecorded(_))) => {
                Err(unkept(&error))
            }
            Err(error) => {
                let message = format!("The approval does not apply: {}.", WithCauses(&error));
                Err(Rejection::new(Code::ApprovalDenied, message))
            }
        }
    }

    pub(crate) fn question<'a>(&'a self, origin: &'a RequestOrigin) -> portcullis_policy::Question<'a> {
        portcullis_policy::Question {
            tool: self.tool.name(),
            permissions: self.tool.permissions(),
            hints: self.tool.hints(),
            arguments: &self.arguments,
            caller: origin.caller(),
        }
    }
}

/// Describes the repairs to the arguments, for the approver.
fn repaired(provenance: &Provenance) -> String {
    let one = |Repair { pointer, what }: &Repair| match pointer.as_str() {
        "" => OneLine(cut(what, REPAIR_BYTES_MAX)).to_string(),
        pointer => format!("{}: {}", OneLine(cut(pointer, REPAIR_BYTES_MAX)), OneLine(cut(what, REPAIR_BYTES_MAX))),
    };
    let told: Vec<String> = provenance.repairs.iter().take(REPAIRS_TOLD_MAX).map(one).collect();
    let more = provenance.repairs.len().saturating_sub(REPAIRS_TOLD_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("the model's arguments did not match the schema and were repaired ({}{more})", told.join("; "))
}

fn too_long(bytes_max: usize) -> Rejection {
    let message = format!("The arguments are not usable: they are larger than {bytes_max} bytes. Shorten them.");
    Rejection::new(Code::MalformedArguments, message)
}

/// Rejects a call while the policy is paused.
fn paused(call: &ValidCall, Pause { layer, reason }: &Pause) -> Rejection {
    let remedy = match layer {
        Layer::User => "to run `portcullis resume`",
        Layer::BuiltIn | Layer::Project => "to remove `paused` from the project's policy",
    };
    let message = format!(
        "Not run: the user has paused all tools ({}). Do not retry {} until they say so. If the pause should end, ask \
         the user {remedy}.",
        OneLine(reason),
        call.tool.name()
    );
    Rejection::new(Code::Paused, message).with_detail(format!("the {layer} policy is paused: {reason}"))
}

fn denied(call: &ValidCall, verdict: &Verdict, alternatives: &[String]) -> Rejection {
    let mut message = format!("The policy denies {}: {}.", call.tool.name(), verdict.reason);
    if alternatives.is_empty() {
        message.push_str(
            " Do not look for a workaround. Continue without this tool, or ask the user to change the policy.",
        );
    } else {
        message.push_str(&format!(" It is {}. Otherwise, continue without this call.", alternatives.join("; or ")));
    }
    Rejection::new(Code::PolicyDenied, message).with_detail(verdict_text(verdict))
}

fn pending(host: &HostState, call: &ValidCall, question: &str, waits_for: WaitingFor) -> Rejection {
    let (tool, command) = (call.tool.name(), host.approval_command(question));
    let message = match waits_for {
        WaitingFor::Approver => format!(
            "Not run: this call of {tool} waits for a person's approval. Do not retry it. Tell the user to run \
             `{command}`."
        ),
        WaitingFor::Caller => format!(
            "Not run: this call of {tool} waits for a person's approval, request {question}. Tell the user to run \
             `{command}`. After that, make exactly the same call again."
        ),
    };
    Rejection::new(Code::ApprovalPending, message)
}
