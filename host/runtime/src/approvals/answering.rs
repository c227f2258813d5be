//! Asks the approver of this process. An approver that panics has refused.

use super::channel::ApproverChannel;
use super::desk::OpenQuestion;
use super::shared::Approvals;
use crate::approver::{Answer, Approver, Question};
use crate::caught::caught;
use tokio::sync::OwnedSemaphorePermit;

/// The note of the answer of an approver that panicked.
const APPROVER_PANICKED: &str = "the approver panicked, so the request is not approved";

/// What this process's own channel answered.
pub(super) struct ApproverAnswer {
    pub(super) answer: Answer,
    /// The text of the approver's panic, for the operator. The answer is then no.
    pub(super) panic: Option<String>,
    /// The turn of the approver, which is over when the answer counts.
    pub(super) attention: Option<OwnedSemaphorePermit>,
}

/// Asks this process's own approver, when it may see one more request.
pub(super) async fn asked(approvals: &Approvals, channel: &ApproverChannel, question: &Question) -> ApproverAnswer {
    let ApproverChannel::Approver(approver) = channel else { return std::future::pending().await };
    let attention = approvals.shared.attention.wait(question).await;
    // Check again after the wait: the approver may have denied the requests ahead of this one.
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
    let mut question = question.clone();
    if let Ok(OpenQuestion { question: Some(now), .. }) = approvals.question(&question.id).await {
        question.difference = now.difference;
    }
    question
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
            agent: None,
            called_by: Vec::new(),
            tool: "a.b".parse().unwrap(),
            plugin_sha256: String::new(),
            permissions: Permissions::default(),
            arguments: String::new(),
            targets: Default::default(),
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
