//! Step 3: whether the call may run. The policy decides; the plugin's own review can only tighten; where the answer
//! is ask, a person has the last word.

use super::approved::ApprovedCall;
use super::grant;
use super::hooks;
use super::question::{self, Reasons};
use super::record::CallRecord;
use super::redecide::redecide_left;
use super::rejection::{Rejection, unkept};
use super::unwanted::unwanted;
use super::valid_call::ValidCall;
use super::verdict_text::verdict_text;
use crate::alone;
use crate::approvals::{
    ApprovalError, Asked, AskedUnder, Asker, Case, Concern, NOTE_BYTES_MAX, Observed, RepetitionRow, Ticket, WaitingFor,
};
use crate::inner::Inner;
use crate::ledger::{Subject, blocking};
use crate::origin::Origin;
use crate::provenance::{Provenance, Repair};
use crate::reply::Code;
use crate::request::Request;
use crate::reserved;
use crate::text::{OneLine, cut};
use portcullis_policy::{Decision, Leniency, Limits, PROPOSALS_MAX, Pattern, Verdict};
use portcullis_sandbox::{CallContext, ReviewRequest, Stop, Verdict as Review};
use std::sync::Arc;
use std::time::Duration;

/// Wall-clock time of one review.
pub(crate) const REVIEW_TIME_MAX: Duration = Duration::from_secs(2);

/// The longest text of a review that is passed on, in bytes.
const REVIEW_BYTES_MAX: usize = 1024;

/// The longest that one thing that was mended is told, in bytes.
const REPAIR_BYTES_MAX: usize = 160;

/// The most things that were mended that are told one by one: a person reads them before they answer.
const REPAIRS_TOLD_MAX: usize = 8;

impl ValidCall {
    pub(super) async fn authorize(
        self: Arc<Self>,
        host: &Arc<Inner>,
        request: &Request,
        record: &mut CallRecord,
    ) -> Result<ApprovedCall, Rejection> {
        let (verdict, observed) = self.weigh(host, request, record).await?;
        if let Some(question) = &request.resumes {
            record.spend(self.redeem(host, request, question, &observed.concerns).await?);
            return Ok(ApprovedCall { limits: self.limits(), call: self, by_a_person: true });
        }
        let Some(reasons) = self.reasons(&verdict, &observed) else {
            return Ok(ApprovedCall { limits: self.limits(), call: self, by_a_person: false });
        };
        grant::check_answerable(&self)?;
        self.ask(host, request, record, &observed, reasons).await
    }

    /// Decides the call by the policy, and asks its reviewer and the hooks about it. A rehearsal counts nothing.
    pub(super) async fn weigh(
        self: &Arc<Self>,
        host: &Arc<Inner>,
        request: &Request,
        record: &CallRecord,
    ) -> Result<(Verdict, Observed), Rejection> {
        let verdict = self.decide(host, request, record).await?;
        if verdict.decision == Decision::Ask && request.resumes.is_none() {
            // Check this before a review or a hook takes time, because no answer would help.
            grant::check_answerable(self)?;
        }
        let mut concerns = match self.review(host, request, record).await? {
            Review::Refuse(reason) => return Err(refused(self, &reason)),
            Review::Ask(request) => vec![self.concern(&request)],
            Review::Clear => Vec::new(),
        };
        concerns.extend(hooks::before(host, record, self, request).await?);
        self.check_repair(request.is_repaired())?;
        if self.asks_afresh(request) {
            // Nothing is remembered of such a call, so nothing is offered.
            concerns.iter_mut().for_each(|concern| concern.patterns.clear());
        }
        let (row, call) = (self.repetition_row(request), (&self.tool.name, &*self.canonical));
        let count = match record.is_rehearsal() {
            true => host.repetition.foresee(row, call),
            false => host.repetition.count(row, call),
        };
        let repaired = request.provenance.as_deref().filter(|from| from.is_repaired()).map(repaired);
        Ok((verdict, Observed { concerns, count, repaired }))
    }

    /// Among which calls this one is counted.
    fn repetition_row<'a>(&self, request: &'a Request) -> RepetitionRow<'a> {
        let Origin { session, principal, .. } = &request.origin;
        RepetitionRow { session, principal, explanations: reserved::explains(&self.tool.name) }
    }

    /// The question about the call, with what it is asked under.
    pub(super) fn case(
        &self,
        request: &Request,
        id: &str,
        observed: &Observed,
        reasons: Reasons,
    ) -> Result<Case, Rejection> {
        let mut case = question::about_call(&request.origin, self, id, reasons, observed.concerns.clone())?;
        case.afresh = self.asks_afresh(request);
        case.times.leaving = request.approval_wait;
        case.asked_under = Some(AskedUnder { policy_source: self.policy.source.clone(), observed: observed.clone() });
        Ok(case)
    }

    /// What the plugin's review asks an approver: its own words, labelled, and the patterns of it that cover the call.
    fn concern(&self, request: &ReviewRequest) -> Concern {
        let patterns = request.patterns.iter().filter_map(|pattern| Pattern::varying(&self.arguments, pattern));
        let patterns = patterns.take(PROPOSALS_MAX).collect();
        Concern { asker: Asker::Plugin, reason: quoted(&request.reason), patterns }
    }

    /// Whether no remembered approval answers for the call: what it would do was looked at by nobody and nothing.
    fn asks_afresh(&self, request: &Request) -> bool {
        request.is_repaired() || self.tool.schema.is_absent()
    }

    fn limits(&self) -> Limits {
        self.policy.policy.limits(&self.plugin.name)
    }

    /// Decides the call by the policy and records the decision. A deny ends the call.
    pub(super) async fn decide(
        &self,
        host: &Inner,
        request: &Request,
        record: &CallRecord,
    ) -> Result<Verdict, Rejection> {
        let bytes_max = self.limits().arguments_bytes;
        if self.canonical.len() > bytes_max {
            return Err(too_long(bytes_max));
        }
        let (policy, question) = (&self.policy.policy, self.question(&request.origin));
        let verdict = policy.decide(&question);
        record.decided(host, &self.policy, &verdict).await?;
        if verdict.decision == Decision::Deny {
            return Err(denied(self, &verdict, &policy.alternatives(&question)));
        }
        Ok(verdict)
    }

    /// That its arguments were held to nothing, where it has no schema.
    fn unchecked(&self) -> Option<String> {
        let absent = self.tool.schema.is_absent();
        absent.then(|| "no schema says what its arguments may be, so nothing was checked".to_owned())
    }

    /// Arguments that were mended are refused unless the policy lets those of the plugin be.
    pub(super) fn check_repair(&self, is_repaired: bool) -> Result<(), Rejection> {
        if !is_repaired || self.policy.policy.repair(&self.plugin.name) == Leniency::Ask {
            return Ok(());
        }
        let tool = &self.tool.name;
        let message =
            format!("The arguments of {tool} were mended, and its policy takes none that were: correct them.");
        let detail = format!("`[plugin.{}] repair = \"ask\"` lets a person decide about each", tool.plugin);
        Err(Rejection::new(Code::PolicyDenied, message).with_detail(detail))
    }

    /// Why a person has to be asked, where one has to be.
    pub(super) fn reasons(&self, verdict: &Verdict, observed: &Observed) -> Option<Reasons> {
        let Observed { concerns, count, repaired } = observed;
        let mut reasons = Vec::new();
        if verdict.decision == Decision::Ask {
            reasons.push(verdict_text(verdict));
        }
        reasons.extend(grant::unnamed_host(self));
        reasons.extend(concerns.iter().map(|concern| &concern.reason).chain(repaired).cloned());
        reasons.extend(self.unchecked());
        let repeats = *count >= self.policy.policy.approvals().repeats;
        if repeats {
            reasons.push(format!("exactly this call has come {count} times in a row"));
        }
        let subject = if repeats { Subject::Repeat } else { Subject::Call };
        let by_host = reasons.len() > concerns.len();
        (!reasons.is_empty()).then(|| Reasons { subject, text: reasons.join("; "), by_host })
    }

    /// Asks an approver. Returns if the call is approved, or if a new policy needs no approval. While the call waits,
    /// each new policy decides it again.
    async fn ask(
        self: &Arc<Self>,
        host: &Arc<Inner>,
        request: &Request,
        record: &mut CallRecord,
        observed: &Observed,
        reasons: Reasons,
    ) -> Result<ApprovedCall, Rejection> {
        let case = self.case(request, record.id(), observed, reasons)?;
        let channel = host.channel_of(request, &self.policy.policy);
        let stopped = async {
            tokio::select! {
                biased;
                rejection = unwanted(request) => Err(rejection),
                () = self.redecided(host, request, observed) => Ok(Asked::Redecided),
            }
        };
        let preview = || self.preview(host, request, record);
        let asked = host.approvals.ask(&channel, case, preview, || record.waiting(), stopped).await?;
        let by_a_person = match asked {
            Asked::Yes(ticket) => {
                record.spend(ticket);
                true
            }
            Asked::Redecided => false,
            // A reload can finish between the decision on this call and its request, and then has not seen the request.
            Asked::Pending { .. } if !self.still_waits(&host.catalog(), request, observed) => {
                redecide_left(host).await.map_err(|error| unkept(&error))?;
                false
            }
            Asked::No { note, detail } => return Err(Rejection { detail, ..disapproved(self, note.as_deref()) }),
            Asked::Pending { question, waits_for } => {
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

    /// Spends the yes that was given while nobody waited.
    async fn redeem(
        &self,
        host: &Inner,
        request: &Request,
        question: &Arc<str>,
        concerns: &[Concern],
    ) -> Result<Option<Ticket>, Rejection> {
        let binding = question::binding_of_call(&request.origin, self, Subject::Call);
        let (approvals, id) = (host.approvals.clone(), Arc::clone(question));
        let (arguments, session) = (self.arguments.clone(), question::session(&request.origin));
        let concerns = concerns.to_vec();
        let redeem = move || approvals.redeem(&id, &binding, &arguments, &session, &concerns);
        match blocking(redeem).await {
            Ok(ticket) => Ok(Some(ticket)),
            Err(error @ (ApprovalError::Ledger(_) | ApprovalError::Audit(_) | ApprovalError::Unrecorded(_))) => {
                Err(unkept(&error))
            }
            Err(error) => Err(Rejection::new(Code::ApprovalDenied, format!("The approval does not hold: {error}."))),
        }
    }

    pub(crate) fn question<'a>(&'a self, origin: &'a Origin) -> portcullis_policy::Question<'a> {
        portcullis_policy::Question {
            tool: &self.tool.name,
            permissions: self.tool.permissions(),
            hints: &self.tool.hints,
            arguments: &self.arguments,
            caller: origin.caller(),
        }
    }

    async fn review(
        self: &Arc<Self>,
        host: &Arc<Inner>,
        request: &Request,
        record: &CallRecord,
    ) -> Result<Review, Rejection> {
        if reserved::is_reserved(&self.plugin.name) {
            return Ok(Review::Clear);
        }
        let code = host.code(&self.plugin).await?;
        if !code.reviews() {
            return Ok(Review::Clear);
        }
        // Reviews wait for each other, each for two seconds at the most; it is never closed.
        let _place = host.reviews.acquire().await;
        let limits = self.limits();
        let limits = Limits { time: REVIEW_TIME_MAX.min(limits.time), ..limits };
        // Its reports are dropped, and its questions are denied: it returns what it asks.
        let context = CallContext { host: alone::host(0), ..record.context(host, request, self, &limits, None) };
        let (tool, handles) = (self.tool.name.tool.as_str(), grant::review_handles(host, self, &request.origin));
        let ran = host.loader.engine.review(code, tool, &self.canonical, &limits, handles, context).await;
        let review = ran.result.unwrap_or_else(|stop| Review::Refuse(stopped("its review", &stop)));
        record.reviewed(&review).await?;
        Ok(review)
    }
}

/// What was mended, for the person who looks at what came of it.
fn repaired(provenance: &Provenance) -> String {
    let one = |Repair { pointer, what }: &Repair| match pointer.as_str() {
        "" => OneLine(cut(what, REPAIR_BYTES_MAX)).to_string(),
        pointer => format!("{}: {}", OneLine(cut(pointer, REPAIR_BYTES_MAX)), OneLine(cut(what, REPAIR_BYTES_MAX))),
    };
    let told: Vec<String> = provenance.repairs.iter().take(REPAIRS_TOLD_MAX).map(one).collect();
    let more = provenance.repairs.len().saturating_sub(REPAIRS_TOLD_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("the model's arguments did not fit and were mended ({}{more})", told.join("; "))
}

fn too_long(bytes_max: usize) -> Rejection {
    let message = format!("The arguments are not usable: they are larger than {bytes_max} bytes; pass less.");
    Rejection::new(Code::MalformedArguments, message)
}

fn denied(call: &ValidCall, verdict: &Verdict, alternatives: &[String]) -> Rejection {
    let mut message = format!("The policy denies {}: {}.", call.tool.name, verdict.reason);
    if alternatives.is_empty() {
        message.push_str(" Do not try the same in another way; say what you need it for, or go on without.");
    } else {
        message.push_str(&format!(" It is {}; otherwise go on without.", alternatives.join("; or ")));
    }
    Rejection::new(Code::PolicyDenied, message).with_detail(verdict_text(verdict))
}

fn pending(host: &Inner, call: &ValidCall, question: &str, waits_for: WaitingFor) -> Rejection {
    let (tool, command) = (&call.tool.name, host.approval_command(question));
    let message = match waits_for {
        WaitingFor::Approver => format!(
            "The call of {tool} waits for a person and has not run. Tell the person that it can be approved with \
             `{command}`, and do not make it again."
        ),
        WaitingFor::Caller => format!(
            "Not run: this call of {tool} waits for a person's approval, request {question}. Tell the user to run \
             `{command}`. When they have, make exactly the same call again: it then runs."
        ),
    };
    Rejection::new(Code::ApprovalPending, message)
}

pub(super) fn disapproved(call: &ValidCall, note: Option<&str>) -> Rejection {
    let mut message = format!("The call of {} was not approved.", call.tool.name);
    if let Some(note) = note {
        message.push_str(&format!(" Note: {}", OneLine(cut(note, NOTE_BYTES_MAX))));
    }
    Rejection::new(Code::ApprovalDenied, message)
}

fn refused(call: &ValidCall, reason: &str) -> Rejection {
    let message = format!("The plugin refuses this call of {}. {}", call.tool.name, quoted(reason));
    Rejection::new(Code::ReviewRefused, message)
}

fn quoted(reason: &str) -> String {
    format!("The plugin says: {}", OneLine(cut(reason, REVIEW_BYTES_MAX)))
}

/// Why a run beside the call ended without a result.
pub(super) fn stopped(run: &str, stop: &Stop) -> String {
    match stop {
        Stop::Limit(kind) => format!("{run} reached the limit on {}", kind.name()),
        Stop::Trapped(_) => format!("{run} trapped"),
        Stop::Exited(_) => format!("{run} exited"),
        Stop::Cancelled => format!("{run} was cancelled"),
        Stop::HostPanic => format!("{run} broke the host's side"),
    }
}
