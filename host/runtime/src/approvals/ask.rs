//! Makes an approval request. Remembered approvals may answer it. Otherwise it is written to the ledger and waits, with
//! its call or without it.

use super::answer::subject_text;
use super::asked::{AskError, AskOutcome, WaitingFor};
use super::attendance::CallAttendance;
use super::body::QuestionBody;
use super::case::ApprovalCase;
use super::channel::ApproverChannel;
use super::error::ApprovalError;
use super::join::Joined;
use super::kept_difference::KeptDifference;
use super::line::{AnswerLine, AskedLine};
use super::open_limits::is_full;
use super::preview::CallPreview;
use super::recall::Recall;
use super::shared::Approvals;
use super::wait::{RequestWait, WaitEnd};
use crate::approver::Question;
use crate::audit::Kind;
use crate::ledger::{self, Durable, QuestionRow, Status, blocking, milliseconds};
use crate::text::new_id;
use portcullis_policy::Unattended;
use std::future::Future;
use std::pin::pin;

/// The reason for a denial without an approver.
pub(super) const NO_APPROVER: &str = "no approver is connected";

/// The reason for a denial when too many requests are open.
pub(super) const FULL: &str = "too many approval requests are already open";

/// The state of a request before an approver is asked.
enum RecalledAnswer {
    Next(Box<Next>),
    /// An approver has to answer it.
    Unanswered(Box<ApprovalCase>),
}

impl RecalledAnswer {
    fn next(next: Next) -> Self {
        Self::Next(Box::new(next))
    }
}

/// The next step for a request. Dropping a `Leave` or `Wait` withdraws a request that was already written.
enum Next {
    Asked(AskOutcome),
    Leave(RequestWait),
    Wait(RequestWait),
}

/// The result of writing a request to the ledger.
enum Put {
    /// The request was written and waits for an answer.
    Down(CallAttendance),
    /// An identical call made a request in the meantime.
    Joined(Joined),
    /// Too many requests are open.
    Full,
}

impl Approvals {
    /// Makes an approval request and waits for its result. `preview` computes what the call would change, and is called
    /// only just before an approver is asked. `waits` is called when the call has to wait. `stopped` ends when the
    /// answer is no longer needed, and provides the result instead.
    ///
    /// # Errors
    /// `stopped` returned an error, or the request or its answer could not be written.
    pub(crate) async fn ask<P: Future<Output = Option<CallPreview>> + Send, S: Send>(
        &self,
        channel: &ApproverChannel,
        case: ApprovalCase,
        preview: impl Fn() -> P + Send,
        waits: impl FnOnce() + Send,
        stopped: impl Future<Output = Result<AskOutcome, S>> + Send,
    ) -> Result<AskOutcome, AskError<S>> {
        let (mut case, mut waits, mut stopped) = (case, Some(waits), pin!(stopped));
        loop {
            let (approvals, channel_now, asking) = (self.clone(), channel.clone(), case.clone());
            let begun = blocking(move || approvals.begin(&channel_now, asking)).await;
            let next = match begun? {
                RecalledAnswer::Next(next) => *next,
                // The preview runs between two transactions, because it can take seconds and a write blocks other
                // processes.
                RecalledAnswer::Unanswered(mut unanswered) => {
                    unanswered.preview = tokio::select! {
                        biased;
                        stopped = stopped.as_mut() => return stopped.map_err(AskError::Stopped),
                        preview = preview() => preview,
                    };
                    let (approvals, channel_now) = (self.clone(), channel.clone());
                    let put = blocking(move || approvals.put_down(&channel_now, *unanswered)).await;
                    put?
                }
            };
            let waiting = match next {
                Next::Asked(asked) => return Ok(asked),
                Next::Leave(mut waiting) => return Ok(waiting.leave(WaitingFor::Approver)),
                Next::Wait(waiting) => waiting,
            };
            if let Some(waits) = waits.take() {
                waits();
            }
            match waiting.wait(channel, stopped.as_mut()).await? {
                WaitEnd::Asked(asked) => return Ok(asked),
                // An identical call spent the approval, so this one needs an approval of its own.
                WaitEnd::Again => case.question.id = new_id().ok_or(ApprovalError::Unknown)?,
            }
        }
    }

    /// Answers the request without an approver if possible: by a remembered approval, an earlier request for the same
    /// call, or a denial.
    fn begin(&self, channel: &ApproverChannel, mut case: ApprovalCase) -> Result<RecalledAnswer, ApprovalError> {
        let recalled = match case.afresh {
            true => Recall::Nothing { changed: None },
            // This only counts uses, which give no right, so the commit need not survive a crash of the machine.
            false => self.announced(Durable::Process, |change, announcer| self.recall(change, announcer, &case))?,
        };
        match recalled {
            Recall::Yes => return Ok(RecalledAnswer::next(Next::Asked(AskOutcome::Yes(None)))),
            Recall::Nothing { changed } => case.question.changed = changed,
        }
        // Join before the check for repeated denials, because an approver may have answered this very call already.
        let joined = self.join(channel, &case)?;
        if let Some(next) = self.joined(joined, &mut case)? {
            return Ok(RecalledAnswer::next(next));
        }
        if let Some(note) = self.shared.refusals.again(&case.question) {
            return self.unasked(&case, note).map(RecalledAnswer::next);
        }
        // A running call cannot leave its request open, because no one could continue the call later.
        match (channel, case.subject) {
            (ApproverChannel::NoApprover(Unattended::Deny), _)
            | (ApproverChannel::NoApprover(_), ledger::QuestionSubject::Resource) => {
                self.unasked(&case, NO_APPROVER.to_owned()).map(RecalledAnswer::next)
            }
            (
                ApproverChannel::NoApprover(Unattended::Pending)
                | ApproverChannel::Approver(_)
                | ApproverChannel::Elsewhere,
                _,
            ) => {
                let Question { session, principal, .. } = &case.question;
                // Check now, because a preview takes time and slots that reviews need. It is checked again when the
                // request is written.
                let open = self.shared.ledger.look(|change| change.open_questions_count(session, principal))?;
                match is_full(open) {
                    true => self.unasked(&case, FULL.to_owned()).map(RecalledAnswer::next),
                    false => Ok(RecalledAnswer::Unanswered(Box::new(case))),
                }
            }
        }
    }

    /// Writes the request to the ledger, unless an identical call made one in the meantime.
    fn put_down(&self, channel: &ApproverChannel, mut case: ApprovalCase) -> Result<Next, ApprovalError> {
        case.question.difference = case.preview.as_ref().map(CallPreview::difference);
        let kept = KeptDifference::of(&case);
        let no_approver = matches!(channel, ApproverChannel::NoApprover(Unattended::Pending));
        let mut row = self.row(&case, no_approver)?;
        // A request must not expire while its call still waits.
        let open = if no_approver { case.times.pending } else { case.times.pending.max(case.times.waiting) };
        // From now on, the preview is in the ledger.
        case.preview = None;
        let owner = self.owner()?;
        let put = self.announced(Durable::Machine, |change, announcer| {
            match self.join_open((change, announcer), channel, &case, owner.id())? {
                Joined::Nothing => {}
                joined @ (Joined::Spent { .. } | Joined::Rejected { .. } | Joined::Open { .. }) => {
                    return Ok(Put::Joined(joined));
                }
            }
            if is_full(change.open_questions_count(&row.session, &row.principal)?) {
                return Ok(Put::Full);
            }
            row.asked_at = change.now();
            row.expires_at = row.asked_at.saturating_add(milliseconds(open));
            change.ask(&row)?;
            announcer.announce(Kind::Asked, &asked_line(&case, kept.as_ref()))?;
            Ok(Put::Down(CallAttendance::begin(self, &row.id)))
        })?;
        let attendance = match put {
            Put::Down(attendance) => {
                // The request is committed by now, so a person who gets its notification finds it.
                self.shared.notifier.notify(&case);
                attendance
            }
            Put::Joined(joined) => {
                let next = self.joined(joined, &mut case)?;
                return next.ok_or(ApprovalError::Unknown);
            }
            Put::Full => return self.unasked(&case, FULL.to_owned()),
        };
        let waiting = RequestWait::new(self, case, attendance, true);
        Ok(if no_approver { Next::Leave(waiting) } else { Next::Wait(waiting) })
    }

    /// Continues with an earlier request for the same call, if there is one.
    fn joined(&self, joined: Joined, case: &mut ApprovalCase) -> Result<Option<Next>, ApprovalError> {
        Ok(match joined {
            Joined::Nothing => None,
            Joined::Spent { id } => {
                self.shared.refusals.forget(&case.question);
                Some(Next::Asked(AskOutcome::Yes(Some(self.ticket(&id)))))
            }
            Joined::Rejected { note } => {
                self.shared.refusals.count(&case.question);
                Some(Next::Asked(AskOutcome::No { note, detail: None }))
            }
            Joined::Open { id, attendance, owned } => {
                case.question.id = id;
                // The entry of the earlier call has the difference.
                self.shared.audit.append(Kind::Asked, None::<&()>, &asked_line(case, None))?;
                Some(match attendance {
                    Some(attendance) => Next::Wait(RequestWait::new(self, case.clone(), attendance, owned)),
                    None => Next::Asked(AskOutcome::Pending {
                        question: case.question.id.clone(),
                        waits_for: WaitingFor::Approver,
                    }),
                })
            }
        })
    }

    /// Returns the row of a request. The transaction that writes it sets the times, by the clock of the ledger.
    fn row(&self, case: &ApprovalCase, no_approver: bool) -> Result<QuestionRow, ApprovalError> {
        let mut question = case.question.clone();
        // The difference is computed again whenever the request is shown.
        question.difference = None;
        let body = QuestionBody {
            question,
            preview: case.preview.clone(),
            binding: case.binding.clone(),
            patterns: case.patterns.clone(),
            automated: case.automated,
            message: case.message.clone(),
            agent: case.agent.clone(),
            model: case.model.clone(),
            toolset: case.toolset.clone(),
            keeps_payloads: case.keeps_payloads,
            covered_text: case.covered_text.clone(),
            session_milliseconds: milliseconds(case.times.session),
            always_milliseconds: milliseconds(case.times.always),
            asked_under: case.asked_under.clone(),
        };
        Ok(QuestionRow {
            id: case.question.id.clone(),
            call: case.question.call.clone(),
            subject: case.subject,
            status: Status::Pending,
            session: case.question.session.clone(),
            principal: case.question.principal.clone(),
            tool: case.question.tool.to_string(),
            binding: case.digest(),
            body: Some(serde_json::to_string(&body).map_err(|error| ledger::form_error(&case.question.id, error))?),
            asked_at: 0,
            expires_at: 0,
            settled_at: None,
            owner: if no_approver { String::new() } else { self.owner()?.id().to_owned() },
            note: None,
        })
    }

    /// Records a denial for which no approver was asked, with its reason.
    fn unasked(&self, case: &ApprovalCase, note: String) -> Result<Next, ApprovalError> {
        let subject = subject_text(&case.question.subject);
        let call = &case.question.call;
        let line = AnswerLine {
            call,
            question: None,
            subject,
            answer: "no",
            covers: None,
            held: None,
            note: Some(&note),
            by: None,
        };
        self.shared.audit.append(Kind::Answer, None::<&()>, &line)?;
        Ok(Next::Asked(AskOutcome::No { note: Some(note), detail: None }))
    }
}

fn asked_line<'a>(case: &'a ApprovalCase, kept: Option<&'a KeptDifference>) -> AskedLine<'a> {
    let question = &case.question;
    AskedLine {
        call: &question.call,
        question: &question.id,
        subject: subject_text(&question.subject),
        reason: &question.reason,
        difference: kept.map(|kept| kept.text.as_str()),
        difference_bytes: kept.and_then(|kept| kept.whole_bytes),
    }
}
