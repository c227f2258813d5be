//! A call of this process waits for the answer to its question: the first one of any channel counts.

use super::answer::subject_text;
use super::asked::{AskError, Asked, WaitingFor};
use super::attendance::Attendance;
use super::case::Case;
use super::channel::Channel;
use super::desk::OpenQuestion;
use super::error::ApprovalError;
use super::line::{AnswerLine, WithdrawalLine};
use super::shared::Approvals;
use crate::approver::{Answer, Approver, Question};
use crate::audit::Kind;
use crate::caught::{caught, caught_now};
use crate::ledger::{Durable, Status, Step, Subject, blocking, drop_blocking};
use std::future::Future;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, MissedTickBehavior};

/// How often a waiting call looks for an answer of another process: a person does not notice a tenth of a second.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The note of the answer of an approver that panicked.
const APPROVER_PANICKED: &str = "the approver itself broke, so nobody has approved it";

/// A way a waiting call goes on.
enum Woken<S> {
    Stopped(S),
    Answered(ApproverAnswer),
    Late,
    Leave,
    Look,
}

/// What this process's own channel answered.
struct ApproverAnswer {
    answer: Answer,
    /// The text of the approver's panic, for the operator. The answer is then no.
    panic: Option<String>,
    /// The turn of the approver, which is over when the answer counts.
    attention: Option<OwnedSemaphorePermit>,
}

/// The result of waiting.
pub(super) enum Ended {
    /// An answer arrived, or the request was left open.
    Asked(Asked),
    /// Another identical call spent the answer, or the request is gone. Ask again.
    Again,
}

/// A request that a call of this process waits for. Dropping this before an answer arrives withdraws the request,
/// unless another call waits for it.
pub(super) struct Waiting {
    approvals: Approvals,
    case: Case,
    /// Counts this call as waiting until it is dropped.
    attendance: Option<Attendance>,
    /// Whether this process owns the request. Only the owner withdraws and ends it.
    owned: bool,
    settled: bool,
    /// The reason to record if the request is withdrawn.
    why: &'static str,
    /// The text of the approver's panic, if it panicked.
    approver_panic: Option<String>,
}

impl Waiting {
    /// Makes the wait for a request that was just created, or that was open already.
    pub(super) fn new(approvals: &Approvals, case: Case, attendance: Attendance, owned: bool) -> Self {
        let why = "the caller no longer waits for the answer";
        let (approvals, attendance) = (approvals.clone(), Some(attendance));
        Self { approvals, case, attendance, owned, settled: false, why, approver_panic: None }
    }

    /// Leaves it behind to be answered.
    pub(super) fn leave(&mut self, waits_for: WaitingFor) -> Asked {
        self.settled = true;
        let question = self.id().to_owned();
        if waits_for == WaitingFor::Caller {
            let binding = self.case.binding.digest(&self.case.covered, &self.case.question.session);
            self.approvals.shared.left.put(&self.case.question.principal, binding, question.clone());
        }
        Asked::Pending { question, waits_for }
    }

    /// Waits for an answer. When this returns without one, the request is withdrawn, unless another call waits for it.
    pub(super) async fn wait<S>(
        mut self,
        channel: &Channel,
        stopped: impl Future<Output = Result<Asked, S>> + Send,
    ) -> Result<Ended, AskError<S>> {
        let ended = self.until_ended(channel, stopped).await;
        self.withdraw().await;
        ended
    }

    async fn until_ended<S>(
        &mut self,
        channel: &Channel,
        stopped: impl Future<Output = Result<Asked, S>> + Send,
    ) -> Result<Ended, AskError<S>> {
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
                () = approvals.shared.answered.notified() => Woken::Look,
                _ = looks.tick() => Woken::Look,
            };
            let mut _attention = None;
            let status = match woken {
                Woken::Stopped(stopped) => {
                    if matches!(stopped, Ok(Asked::Redecided)) {
                        self.why = "a new policy decides on the call";
                    }
                    return stopped.map(Ended::Asked).map_err(AskError::Stopped);
                }
                Woken::Answered(ApproverAnswer { answer, panic, attention }) => {
                    _attention = attention;
                    self.approver_panic = panic;
                    self.answered(&answer).await?
                }
                Woken::Late => self.late().await?,
                Woken::Leave => return Ok(Ended::Asked(self.leave(WaitingFor::Caller))),
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
            // A runtime that shuts down drops it all the same.
            let _ = tokio::task::spawn_blocking(move || drop(withdrawal)).await;
        }
    }

    /// Takes what withdraws the request. None if it was answered, or if another process owns it.
    fn withdrawal(&mut self) -> Option<Withdrawal> {
        if std::mem::replace(&mut self.settled, true) || !self.owned {
            return None;
        }
        let (call, question) = (self.case.question.call.clone(), self.id().to_owned());
        Some(Withdrawal { approvals: self.approvals.clone(), call, question, why: self.why })
    }

    /// Returns after how long the call stops waiting. None if its caller is asked, because the caller's own timeout
    /// then does not matter.
    fn leaving(&self, channel: &Channel) -> Option<Duration> {
        let asks_caller = match channel {
            // One that panics has not said that it asks the caller.
            Channel::Approver(approver) => caught_now(|| approver.asks_caller(&self.case.question)).unwrap_or_default(),
            Channel::Elsewhere | Channel::Nobody(_) => false,
        };
        self.case.times.leaving.filter(|leaving| !asks_caller && *leaving < self.case.times.waiting)
    }

    /// The answer of this process's own channel; where another was first, that one counts.
    async fn answered(&self, answer: &Answer) -> Result<Status, ApprovalError> {
        let (approvals, id, answer) = (self.approvals.clone(), self.id().to_owned(), answer.clone());
        match blocking(move || approvals.answer(&id, &answer)).await {
            Ok(_) => Ok(self.status().await?.0),
            Err(ApprovalError::Settled(status)) => Ok(status),
            Err(ApprovalError::Expired) => Ok(Status::Expired),
            Err(error) => Err(error),
        }
    }

    /// The time is over; where an answer was first, that one counts.
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
                };
                change.post(Kind::Answer.as_str(), &line)?;
                let _ = change.step(&id, Step::Expire, None)?;
                Ok(Status::Expired)
            })
        };
        blocking(expire).await
    }

    /// Whether another process, or another part of this one, has answered.
    async fn look(&self, seen: &mut Option<i64>) -> Result<Option<Status>, ApprovalError> {
        let version = self.approvals.shared.ledger.version()?;
        if version.is_none() || *seen == version {
            return Ok(None);
        }
        *seen = version;
        let (status, _) = self.status().await?;
        Ok((status != Status::Pending).then_some(status))
    }

    /// An approved question is claimed; any other answer is no.
    async fn settle(&mut self, status: Status) -> Result<Ended, ApprovalError> {
        let (approvals, id, subject) = (self.approvals.clone(), self.id().to_owned(), self.case.subject);
        match status {
            Status::Approved => {
                approvals.shared.refusals.forget(&self.case.question);
                let claimed = blocking(move || approvals.claim(&id, subject)).await;
                self.settled = claimed.is_ok();
                match claimed {
                    Ok(ticket) => Ok(Ended::Asked(Asked::Yes(ticket))),
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
    fn overtaken(&mut self, status: Status) -> Result<Ended, ApprovalError> {
        match (self.case.subject, status) {
            (Subject::Call | Subject::Repeat, Status::Running | Status::Done | Status::Withdrawn | Status::Lost) => {
                self.settled = true;
                Ok(Ended::Again)
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

    async fn rejected(&mut self) -> Result<Ended, ApprovalError> {
        self.settled = true;
        // One denial of several calls that wait for one request counts once.
        if self.approvals.shared.waiters.count(self.id()) <= 1 {
            self.approvals.shared.refusals.count(&self.case.question);
        }
        let (_, note) = self.status().await?;
        Ok(Ended::Asked(Asked::No { note, detail: self.approver_panic.take() }))
    }
}

/// What this process's own channel answers, when its turn has come.
async fn asked(approvals: &Approvals, channel: &Channel, question: &Question) -> ApproverAnswer {
    let Channel::Approver(approver) = channel else { return std::future::pending().await };
    let attention = approvals.shared.attention.wait(question).await;
    let (answer, panic) = match approvals.shared.refusals.again(question) {
        Some(note) => (Answer::No { note: Some(note) }, None),
        None => answer_of(&**approver, &as_it_is_now(approvals, question).await).await,
    };
    ApproverAnswer { answer, panic, attention }
}

/// Asks an approver. One that panics has said no, and the text of its panic is for the operator.
async fn answer_of(approver: &dyn Approver, question: &Question) -> (Answer, Option<String>) {
    match caught(|| approver.answer(question)).await {
        Ok(answer) => (answer, None),
        Err(panic) => (Answer::No { note: Some(APPROVER_PANICKED.to_owned()) }, Some(format!("the approver: {panic}"))),
    }
}

/// Recomputes what the call would change, because the request may have waited in the queue of its approver.
async fn as_it_is_now(approvals: &Approvals, question: &Question) -> Question {
    let (approvals, mut question) = (approvals.clone(), question.clone());
    let id = question.id.clone();
    if let Ok(OpenQuestion { question: Some(now), .. }) = blocking(move || approvals.question(&id)).await {
        question.difference = now.difference;
    }
    question
}

impl Drop for Waiting {
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
            if approvals.shared.waiters.count(question) > 0 {
                return Ok(());
            }
            if change.step(question, Step::Withdraw, None)?.is_ok() {
                change.post(Kind::Withdrawn.as_str(), &WithdrawalLine { call, question, why })?;
            }
            Ok(())
        });
    }
}

fn expired() -> Ended {
    Ended::Asked(Asked::No { note: Some("no answer came in time".to_owned()), detail: None })
}

/// Waits until the call stops waiting, which may be never.
async fn left(after: Option<Duration>) {
    match after {
        Some(after) => tokio::time::sleep(after).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approver::Subject;
    use crate::approver::{Answering, approver_fn};
    use portcullis_policy::Permissions;

    /// Panics before there is a future.
    struct PanicsAtOnce;

    impl Approver for PanicsAtOnce {
        fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
            panic!("at once")
        }
    }

    fn question() -> Question {
        Question {
            id: String::new(),
            call: String::new(),
            session: String::new(),
            principal: String::new(),
            origin: String::new(),
            tool: "a.b".parse().unwrap(),
            plugin_sha256: String::new(),
            permissions: Permissions::default(),
            arguments: String::new(),
            handles: Vec::new(),
            subject: Subject::Call,
            reason: String::new(),
            changed: None,
            difference: None,
            offers: Vec::new(),
        }
    }

    #[tokio::test]
    async fn an_approver_that_panics_has_said_no() {
        let later = approver_fn(async |_| {
            tokio::task::yield_now().await;
            panic!("later")
        });
        for (approver, text) in [(&PanicsAtOnce as &dyn Approver, "at once"), (&*later, "later")] {
            let (answer, panic) = answer_of(approver, &question()).await;
            assert_eq!(answer, Answer::No { note: Some(APPROVER_PANICKED.to_owned()) });
            assert_eq!(panic, Some(format!("the approver: it panicked: {text}")));
        }
        let yes = approver_fn(async |_| Answer::Yes);
        assert_eq!(answer_of(&*yes, &question()).await, (Answer::Yes, None));
    }
}
