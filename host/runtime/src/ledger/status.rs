//! What a question can become, and by which step: a pure table. Everything that races over an approval races over one
//! of these steps, and the ledger takes each inside a transaction, so of two only one finds the status it needs.

use std::fmt;

/// How a question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nobody has answered.
    Pending,
    /// A person said yes; the call has not begun to run.
    Approved,
    /// The call began to run. Whatever happens now, it never begins again.
    Running,
    /// The call ended, or the running call went on with its answer.
    Done,
    /// A person said no.
    Rejected,
    /// No answer came in time, or the call did not begin in time.
    Expired,
    /// Whoever asked no longer wants to know: cancelled, overtaken, or no longer the same call.
    Withdrawn,
    /// The process died while the call ran: what it did is not known, and it is not done again.
    Lost,
}

/// What can happen to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A person says yes.
    Approve,
    /// A person says no, or takes a yes back before the call began.
    Reject,
    /// The time is over.
    Expire,
    /// Whoever asked takes it back.
    Withdraw,
    /// The call begins to run: the yes is spent.
    Claim,
    /// The call has ended.
    Finish,
    /// The process that ran the call is gone.
    Lose,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Approved,
        Self::Running,
        Self::Done,
        Self::Rejected,
        Self::Expired,
        Self::Withdrawn,
        Self::Lost,
    ];

    /// The word in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Running => "running",
            Self::Done => "done",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Lost => "lost",
        }
    }

    /// The status of a word.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether something can still become of it.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Approved | Self::Running)
    }

    /// What a step makes of it; nothing where the step comes too late.
    pub(crate) fn after(self, step: Step) -> Option<Self> {
        match (self, step) {
            (Self::Pending, Step::Approve) => Some(Self::Approved),
            (Self::Pending | Self::Approved, Step::Reject) => Some(Self::Rejected),
            (Self::Pending | Self::Approved, Step::Expire) => Some(Self::Expired),
            (Self::Pending | Self::Approved, Step::Withdraw) => Some(Self::Withdrawn),
            (Self::Approved, Step::Claim) => Some(Self::Running),
            (Self::Running, Step::Finish) => Some(Self::Done),
            (Self::Running, Step::Lose) => Some(Self::Lost),
            (
                Self::Pending
                | Self::Approved
                | Self::Running
                | Self::Done
                | Self::Rejected
                | Self::Expired
                | Self::Withdrawn
                | Self::Lost,
                Step::Approve | Step::Reject | Step::Expire | Step::Withdraw | Step::Claim | Step::Finish | Step::Lose,
            ) => None,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [Step; 7] =
        [Step::Approve, Step::Reject, Step::Expire, Step::Withdraw, Step::Claim, Step::Finish, Step::Lose];

    #[test]
    fn a_settled_question_stays_settled() {
        for status in Status::ALL.into_iter().filter(|status| !status.is_open()) {
            for step in STEPS {
                assert_eq!(status.after(step), None, "{status} after {step:?}");
            }
        }
    }

    #[test]
    fn only_an_approved_question_is_claimed_and_only_a_pending_one_approved() {
        for status in Status::ALL {
            assert_eq!(status.after(Step::Claim).is_some(), status == Status::Approved);
            assert_eq!(status.after(Step::Approve).is_some(), status == Status::Pending);
        }
    }

    #[test]
    fn every_word_is_the_word_of_its_status() {
        for status in Status::ALL {
            assert_eq!(Status::of(status.as_str()), Some(status));
        }
        assert_eq!(Status::of("Pending"), None);
    }
}
