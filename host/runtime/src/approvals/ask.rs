//! A question is asked: what is remembered may answer it, and otherwise it is put down and waits, here or left behind.

use super::answer::subject_text;
use super::asked::{AskError, Asked, WaitingFor};
use super::attendance::Attendance;
use super::body::Body;
use super::case::Case;
use super::channel::Channel;
use super::error::ApprovalError;
use super::join::Joined;
use super::line::{AnswerLine, AskedLine};
use super::open_limits::is_full;
use super::preview::Preview;
use super::recall::Recall;
use super::shared::Approvals;
use super::wait::{Ended, Waiting};
use crate::approver::Question;
use crate::audit::Kind;
use crate::ledger::{self, Durable, LedgerError, QuestionRow, Status, blocking, milliseconds, now};
use crate::text::new_id;
use portcullis_policy::Unattended;
use std::future::Future;
use std::pin::pin;

/// Why nobody is asked where no approver is there.
pub(super) const NOBODY: &str = "no approver is connected";

/// Why nobody is asked where there is no place for one more request.
pub(super) const FULL: &str = "too many questions already wait for a person";

/// What is known of a question before an approver is asked.
enum Begun {
    Next(Box<Next>),
    /// An approver has to answer it.
    Unanswered(Box<Case>),
}

impl Begun {
    fn next(next: Next) -> Self {
        Self::Next(Box::new(next))
    }
}

/// What is done next about a question. One that was put down is withdrawn if nobody takes it from here.
enum Next {
    Asked(Asked),
    Leave(Waiting),
    Wait(Waiting),
}

/// What came of putting a question down.
enum Put {
    /// It waits for an answer.
    Down(Attendance),
    /// Another call like it has asked in the meantime.
    Joined(Joined),
    /// Too many wait already.
    Full,
}

impl Approvals {
    /// Asks. `preview` computes what the call would change; it is called only just before an approver is asked. `waits`
    /// is called when the call has to wait. `stopped` ends when the answer is no longer needed, with the result
    /// instead.
    ///
    /// # Errors
    /// What `stopped` says, or that the question or its answer could not be kept.
    pub(crate) async fn ask<P: Future<Output = Option<Preview>> + Send, S: Send>(
        &self,
        channel: &Channel,
        case: Case,
        preview: impl Fn() -> P + Send,
        waits: impl FnOnce() + Send,
        stopped: impl Future<Output = Result<Asked, S>> + Send,
    ) -> Result<Asked, AskError<S>> {
        let (mut case, mut waits, mut stopped) = (case, Some(waits), pin!(stopped));
        loop {
            let (approvals, channel_now, asking) = (self.clone(), channel.clone(), case.clone());
            let begun = blocking(move || approvals.begin(&channel_now, asking)).await;
            let next = match begun? {
                Begun::Next(next) => *next,
                Begun::Unanswered(mut unanswered) => {
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
                Ended::Asked(asked) => return Ok(asked),
                // Its approval was spent by another call like it, so that this one needs an approval of its own.
                Ended::Again => case.question.id = new_id().ok_or(ApprovalError::Unknown)?,
            }
        }
    }

    /// Answers the question without an approver if possible: by a remembered approval, an earlier question about the
    /// same call, or a refusal.
    fn begin(&self, channel: &Channel, mut case: Case) -> Result<Begun, ApprovalError> {
        let recalled = match case.afresh {
            true => Recall::Nothing { changed: None },
            false => self.announced(Durable::Process, |change, announcer| self.recall(change, announcer, &case))?,
        };
        match recalled {
            Recall::Yes => return Ok(Begun::next(Next::Asked(Asked::Yes(None)))),
            Recall::Nothing { changed } => case.question.changed = changed,
        }
        let joined = self.join(channel, &case)?;
        if let Some(next) = self.joined(joined, &mut case)? {
            return Ok(Begun::next(next));
        }
        if let Some(note) = self.shared.refusals.again(&case.question) {
            return self.unasked(&case, note).map(Begun::next);
        }
        // A running call cannot be left behind to wait: it would wait in nobody's time.
        match (channel, case.subject) {
            (Channel::Nobody(Unattended::Deny), _) | (Channel::Nobody(_), ledger::Subject::Resource) => {
                self.unasked(&case, NOBODY.to_owned()).map(Begun::next)
            }
            (Channel::Nobody(Unattended::Pending) | Channel::Approver(_) | Channel::Elsewhere, _) => {
                let Question { session, principal, .. } = &case.question;
                // Checked again when the question is written. A preview takes time, and slots that reviews need.
                let open = self.shared.ledger.look(|change| change.open_questions_count(session, principal))?;
                match is_full(open) {
                    true => self.unasked(&case, FULL.to_owned()).map(Begun::next),
                    false => Ok(Begun::Unanswered(Box::new(case))),
                }
            }
        }
    }

    /// Puts the question down, unless another call like it has asked in the meantime.
    fn put_down(&self, channel: &Channel, mut case: Case) -> Result<Next, ApprovalError> {
        case.question.difference = case.preview.as_ref().map(Preview::difference);
        let nobody = matches!(channel, Channel::Nobody(Unattended::Pending));
        let row = self.row(&case, nobody)?;
        // The ledger keeps it from here on.
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
            change.ask(&row)?;
            announcer.announce(Kind::Asked, &asked_line(&case))?;
            Ok(Put::Down(Attendance::begin(self, &row.id)))
        })?;
        let attendance = match put {
            Put::Down(attendance) => attendance,
            Put::Joined(joined) => {
                let next = self.joined(joined, &mut case)?;
                return next.ok_or(ApprovalError::Unknown);
            }
            Put::Full => return self.unasked(&case, FULL.to_owned()),
        };
        let waiting = Waiting::new(self, case, attendance, true);
        Ok(if nobody { Next::Leave(waiting) } else { Next::Wait(waiting) })
    }

    /// Goes on with an earlier question about the same call, where there is one.
    fn joined(&self, joined: Joined, case: &mut Case) -> Result<Option<Next>, ApprovalError> {
        Ok(match joined {
            Joined::Nothing => None,
            Joined::Spent { id } => {
                self.shared.refusals.forget(&case.question);
                Some(Next::Asked(Asked::Yes(Some(self.ticket(&id)))))
            }
            Joined::Rejected { note } => {
                self.shared.refusals.count(&case.question);
                Some(Next::Asked(Asked::No { note, detail: None }))
            }
            Joined::Open { id, attendance, owned } => {
                case.question.id = id;
                self.shared.audit.append(Kind::Asked, None::<&()>, &asked_line(case))?;
                Some(match attendance {
                    Some(attendance) => Next::Wait(Waiting::new(self, case.clone(), attendance, owned)),
                    None => Next::Asked(Asked::Pending {
                        question: case.question.id.clone(),
                        waits_for: WaitingFor::Approver,
                    }),
                })
            }
        })
    }

    fn row(&self, case: &Case, nobody: bool) -> Result<QuestionRow, ApprovalError> {
        let mut question = case.question.clone();
        // It is computed again whenever the question is shown.
        question.difference = None;
        let body = Body {
            question,
            preview: case.preview.clone(),
            binding: case.binding.clone(),
            patterns: case.patterns.clone(),
            automated: case.automated,
            message: case.message.clone(),
            agent: case.agent.clone(),
            keeps_payloads: case.keeps_payloads,
            session_milliseconds: milliseconds(case.times.session),
            always_milliseconds: milliseconds(case.times.always),
            asked_under: case.asked_under.clone(),
        };
        let asked_at = now();
        let open = if nobody { case.times.pending } else { case.times.pending.max(case.times.waiting) };
        Ok(QuestionRow {
            id: case.question.id.clone(),
            call: case.question.call.clone(),
            subject: case.subject,
            status: Status::Pending,
            session: case.question.session.clone(),
            principal: case.question.principal.clone(),
            tool: case.question.tool.to_string(),
            binding: case.binding.digest(&case.covered, &case.question.session),
            body: Some(serde_json::to_string(&body).map_err(|error| LedgerError::form(&case.question.id, error))?),
            asked_at,
            expires_at: asked_at.saturating_add(milliseconds(open)),
            settled_at: None,
            owner: if nobody { String::new() } else { self.owner()?.id().to_owned() },
            note: None,
        })
    }

    /// Records that nobody was asked, and why the answer is no.
    fn unasked(&self, case: &Case, note: String) -> Result<Next, ApprovalError> {
        let subject = subject_text(&case.question.subject);
        let call = &case.question.call;
        let line =
            AnswerLine { call, question: None, subject, answer: "no", covers: None, held: None, note: Some(&note) };
        self.shared.audit.append(Kind::Answer, None::<&()>, &line)?;
        Ok(Next::Asked(Asked::No { note: Some(note), detail: None }))
    }
}

fn asked_line(case: &Case) -> AskedLine<'_> {
    let question = &case.question;
    let subject = subject_text(&question.subject);
    AskedLine { call: &question.call, question: &question.id, subject, reason: &question.reason }
}
