//! Waits for the answer to an approval request of this process. The first answer of any channel counts.

use super::answer::subject_text;
use super::answering::{ApproverAnswer, asked};
use super::approved_part::ApprovedPart;
use super::asked::{AskError, AskOutcome, WaitingFor};
use super::attendance::CallAttendance;
use super::case::ApprovalCase;
use super::channel::ApproverChannel;
use super::error::ApprovalError;
use super::line::{AnswerLine, WithdrawalLine};
use super::shared::Approvals;
use crate::approver::Answer;
use crate::audit::Kind;
use crate::caught::caught_now;
use crate::ledger::{
    Durable, QuestionSubject, Status, StatusStep, blocking, drop_blocking, dropped_blocking, is_unreachable,
};
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};

/// How often a waiting call looks for an answer of another process. A person does not notice a tenth of a second.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The event that wakes a waiting call.
enum Woken<S> {
    Stopped(S),
    Answered(ApproverAnswer),
    Late,
    Leave,
    Look,
}

/// The result of waiting.
pub(super) enum WaitEnd {
    /// An answer arrived, or the request was left open.
    Asked(AskOutcome),
    /// Another identical call spent the answer, or the request is gone. Ask again.
    Again,
}

/// A request that a call of this process waits for. Dropping this before an answer arrives withdraws the request,
/// unless another call waits for it.
pub(super) struct RequestWait {
    approvals: Approvals,
    case: ApprovalCase,
    /// Counts this call as waiting until it is dropped.
    attendance: Option<CallAttendance>,
    /// Whether this process owns the request. Only the owner withdraws and ends it.
    owned: bool,
    settled: bool,
    /// The reason to record if the request is withdrawn.
    why: &'static str,
    /// The text of the approver's panic, if it panicked.
    approver_panic: Option<String>,
}

impl RequestWait {
    /// Creates the wait for a request that was just created, or that was already open.
    pub(super) fn new(approvals: &Approvals, case: ApprovalCase, attendance: CallAttendance, owned: bool) -> Self {
        let why = "the caller no longer waits for the answer";
        let (approvals, attendance) = (approvals.clone(), Some(attendance));
        Self { approvals, case, attendance, owned, settled: false, why, approver_panic: None }
    }

    /// Stops waiting, and leaves the request open.
    pub(super) fn leave(&mut self, waits_for: WaitingFor) -> AskOutcome {
        self.settled = true;
        let question = self.id().to_owned();
        if waits_for == WaitingFor::Caller {
            let binding = self.case.digest();
            self.approvals.shared.left.put(&self.case.question.principal, binding, question.clone());
        }
        AskOutcome::Pending { question, waits_for }
    }

    /// Waits for an answer. When this returns without one, the request is withdrawn, unless another call waits for it.
    pub(super) async fn wait<S>(
        mut self,
        channel: &ApproverChannel,
        stopped: impl Future<Output = Result<AskOutcome, S>> + Send,
    ) -> Result<WaitEnd, AskError<S>> {
        let ended = self.until_ended(channel, stopped).await;
        self.withdraw().await;
        ended
    }

    async fn until_ended<S>(
        &mut self,
        channel: &ApproverChannel,
        stopped: impl Future<Output = Result<AskOutcome, S>> + Send,
    ) -> Result<WaitEnd, AskError<S>> {
        let (approvals, question) = (self.approvals.clone(), self.case.question.clone());
        let leaves = left(self.leaving(channel));
        let late = tokio::time::sleep_until(Instant::now() + self.case.times.waiting);
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let answer = asked(&approvals, channel, &question);
        tokio::pin!(stopped, late, leaves, answer);
        let mut seen = None;
        loop {
            let woken = tokio::select! {
                // An answer that comes together with the cancellation is not for a call that still exists.
                biased;
                stopped = &mut stopped => Woken::Stopped(stopped),
                answer = &mut answer => Woken::Answered(answer),
                () = &mut late => Woken::Late,
                () = &mut leaves => Woken::Leave,
                // A notification between two rounds is lost. The next tick then finds the answer.
                () = approvals.shared.answered.notified() => Woken::Look,
                _ = looks.tick() => Woken::Look,
            };
            // Held until the answer is counted. The next request of the session then sees a pause that this answer
            // begins.
            let mut _attention = None;
            let status = match woken {
                Woken::Stopped(stopped) => {
                    if matches!(stopped, Ok(AskOutcome::Redecided)) {
                        self.why = "a new policy decides on the call";
                    }
                    return stopped.map(WaitEnd::Asked).map_err(AskError::Stopped);
                }
                Woken::Answered(ApproverAnswer { answer, panic, attention }) => {
                    _attention = attention;
                    self.approver_panic = panic;
                    self.answered(&answer).await?
                }
                Woken::Late => self.late().await?,
                Woken::Leave => return Ok(WaitEnd::Asked(self.leave(WaitingFor::Caller))),
                Woken::Look => match self.look(&mut seen).await? {
                    Some(status) => status,
                    None => continue,
                },
            };
            return Ok(self.settle(status).await?);
        }
    }

    /// Stops waiting. Returns when a request without an answer is withdrawn, unless another call waits for it.
    async fn withdraw(mut self) {
        self.attendance = None;
        if let Some(withdrawal) = self.withdrawal() {
            dropped_blocking(withdrawal).await;
        }
    }

    /// Returns the withdrawal of the request. Returns `None` if it was answered, or if another process owns it.
    fn withdrawal(&mut self) -> Option<Withdrawal> {
        // Set `settled`, because `Drop` runs after `withdraw` and must not withdraw again.
        if std::mem::replace(&mut self.settled, true) || !self.owned {
            return None;
        }
        let (call, question) = (self.case.question.call.clone(), self.id().to_owned());
        Some(Withdrawal { approvals: self.approvals.clone(), call, question, why: self.why })
    }

    /// Returns after how long the call stops waiting. None if its caller is asked, because the caller's own timeout
    /// then does not matter.
    fn leaving(&self, channel: &ApproverChannel) -> Option<Duration> {
        let asks_caller = match channel {
            // One that panics has not said that it asks the caller.
            ApproverChannel::Approver(approver) => {
                caught_now(|| approver.asks_caller(&self.case.question)).unwrap_or_default()
            }
            ApproverChannel::Elsewhere | ApproverChannel::NoApprover(_) => false,
        };
        self.case.times.leaving.filter(|leaving| !asks_caller && *leaving < self.case.times.waiting)
    }

    /// Applies the answer of this process's own approver, unless another answer was first.
    async fn answered(&self, answer: &Answer) -> Result<Status, ApprovalError> {
        match self.approvals.answer(self.id(), answer).await {
            Ok(_) => Ok(self.status().await?.0),
            Err(ApprovalError::Settled(status)) => Ok(status),
            Err(ApprovalError::Expired) => Ok(Status::Expired),
            Err(error) => Err(error),
        }
    }

    /// Handles the timeout, unless an answer was first.
    async fn late(&self) -> Result<Status, ApprovalError> {
        let (approvals, id) = (self.approvals.clone(), self.id().to_owned());
        let (call, subject) = (self.case.question.call.clone(), self.case.question.subject.clone());
        let owned = self.owned;
        let expire = move || {
            approvals.change(Durable::Machine, |change| {
                let row = change.question(&id)?.ok_or(ApprovalError::Unknown)?;
                if row.status != Status::Pending {
                    return Ok(row.status);
                }
                if !owned || approvals.shared.waiters.count(&id) > 1 {
                    // Only this call timed out. Another one still waits for the answer.
                    return Ok(Status::Expired);
                }
                let line = AnswerLine {
                    call: &call,
                    question: Some(&id),
                    subject: subject_text(&subject),
                    answer: "expired",
                    covers: None,
                    held: None,
                    note: None,
                    by: None,
                };
                change.post(Kind::Answer.as_str(), &line)?;
                let _ = change.step(&id, StatusStep::Expire, None)?;
                Ok(Status::Expired)
            })
        };
        blocking(expire).await
    }

    /// Returns the request's status if another process, or another part of this one, has settled it.
    async fn look(&self, seen: &mut Option<i64>) -> Result<Option<Status>, ApprovalError> {
        // Read the version before the status. A change in between has a newer version, so the next look reads again.
        let version = self.approvals.shared.ledger.version()?;
        if version.is_none() || *seen == version {
            return Ok(None);
        }
        match self.status().await {
            // The request is still there when the database is. A call that waits for a person can wait for it too.
            Err(ApprovalError::Ledger(error)) if is_unreachable(&error) => Ok(None),
            Err(error) => Err(error),
            Ok((status, _)) => {
                *seen = version;
                Ok((status != Status::Pending).then_some(status))
            }
        }
    }

    /// Claims an approved request, and turns every other status into a denial.
    async fn settle(&mut self, status: Status) -> Result<WaitEnd, ApprovalError> {
        let (approvals, id, subject) = (self.approvals.clone(), self.id().to_owned(), self.case.subject);
        match status {
            Status::Approved => {
                approvals.shared.refusals.forget(&self.case.question);
                let part = self.approved_part().await?;
                let claimed = blocking(move || approvals.claim(&id, subject)).await;
                self.settled = claimed.is_ok();
                match claimed {
                    Ok(ticket) => Ok(WaitEnd::Asked(match part {
                        Some(ApprovedPart { calls, note }) => AskOutcome::Part { calls, note },
                        None => AskOutcome::Yes(ticket),
                    })),
                    Err(ApprovalError::Settled(Status::Expired) | ApprovalError::Expired) => Ok(expired()),
                    // Revoked between the answer and the run.
                    Err(ApprovalError::Settled(Status::Rejected)) => self.rejected().await,
                    Err(ApprovalError::Settled(status)) => self.overtaken(status),
                    Err(error) => Err(error),
                }
            }
            Status::Rejected => self.rejected().await,
            Status::Expired => Ok(expired()),
            Status::Pending | Status::Running | Status::Done | Status::Withdrawn | Status::Lost => {
                self.overtaken(status)
            }
        }
    }

    /// Handles a request that another identical call finished. A running call's request is its own, so this cannot
    /// happen to it.
    fn overtaken(&mut self, status: Status) -> Result<WaitEnd, ApprovalError> {
        match (self.case.subject, status) {
            (
                QuestionSubject::Call | QuestionSubject::Repeat,
                Status::Running | Status::Done | Status::Withdrawn | Status::Lost,
            ) => {
                self.settled = true;
                Ok(WaitEnd::Again)
            }
            (_, status) => Err(ApprovalError::Settled(status)),
        }
    }

    fn id(&self) -> &str {
        &self.case.question.id
    }

    async fn status(&self) -> Result<(Status, Option<String>), ApprovalError> {
        let (approvals, id) = (self.approvals.clone(), self.id().to_owned());
        let row = move || approvals.shared.ledger.look(|change| change.question(&id)?.ok_or(ApprovalError::Unknown));
        let row = blocking(row).await?;
        Ok((row.status, row.note))
    }

    /// Returns which of several calls were approved. None if the whole request was.
    async fn approved_part(&self) -> Result<Option<ApprovedPart>, ApprovalError> {
        let Some(count) = self.case.question.selectable_calls() else { return Ok(None) };
        let (_, note) = self.status().await?;
        note.map(|note| ApprovedPart::parse(&note, count).ok_or(ApprovalError::Unknown)).transpose()
    }

    async fn rejected(&mut self) -> Result<WaitEnd, ApprovalError> {
        self.settled = true;
        // One denial of several calls that wait for one request counts once.
        if self.approvals.shared.waiters.count(self.id()) <= 1 {
            self.approvals.shared.refusals.count(&self.case.question);
        }
        let (_, note) = self.status().await?;
        Ok(WaitEnd::Asked(AskOutcome::No { note, detail: self.approver_panic.take() }))
    }
}

impl Drop for RequestWait {
    fn drop(&mut self) {
        // Stop counting this call, so that the last one that waits withdraws the request.
        self.attendance = None;
        if let Some(withdrawal) = self.withdrawal() {
            drop_blocking(withdrawal);
        }
    }
}

/// A request that no call waits for any more. Dropping this withdraws the request, unless another call has joined it.
/// It writes to the ledger then, so drop it on a thread that may block.
struct Withdrawal {
    approvals: Approvals,
    call: String,
    question: String,
    why: &'static str,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let Self { approvals, call, question, why } = self;
        // If this cannot be written, the request expires later.
        let _ = approvals.change(Durable::Process, |change| {
            // A call begins to wait within a transaction, so no call can join between this check and the step.
            if approvals.shared.waiters.count(question) > 0 {
                return Ok(());
            }
            if change.step(question, StatusStep::Withdraw, None)?.is_ok() {
                change.post(Kind::Withdrawn.as_str(), &WithdrawalLine { call, question, why })?;
            }
            Ok(())
        });
    }
}

fn expired() -> WaitEnd {
    WaitEnd::Asked(AskOutcome::No { note: Some("no answer came in time".to_owned()), detail: None })
}

/// Waits until the call stops waiting, which may be never.
async fn left(after: Option<Duration>) {
    match after {
        Some(after) => tokio::time::sleep(after).await,
        None => std::future::pending().await,
    }
}
