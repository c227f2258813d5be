//! The status of an approval request and its steps, as a pure table. The ledger takes each step in a transaction, so of
//! two racing steps only one finds the status that it needs.

use std::fmt;

/// The status of an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It has no answer yet.
    Pending,
    /// An approver approved it. The call has not started yet.
    Approved,
    /// The call has started. It is never started again.
    Running,
    /// The call has ended, or the running call has received its answer.
    Done,
    /// An approver denied it, or revoked the approval before the call started.
    Rejected,
    /// No answer arrived in time, or the call did not start in time.
    Expired,
    /// The answer is no longer needed, because the call was cancelled, redecided by a new policy, or changed.
    Withdrawn,
    /// The process died while the call ran. Its effects are unknown, and it is not repeated.
    Lost,
}

/// A step that changes the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusStep {
    /// An approver approves it.
    Approve,
    /// An approver denies it, or revokes the approval before the call starts.
    Reject,
    /// It expires.
    Expire,
    /// The answer is no longer needed.
    Withdraw,
    /// The call starts, which spends the approval.
    Claim,
    /// The call ends.
    Finish,
    /// The process that ran the call has died.
    Lose,
}

impl Status {
    /// All statuses.
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

    /// Returns the word in the ledger.
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

    /// Returns the status with this word.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Returns whether the status can still change.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Approved | Self::Running)
    }

    /// Returns the status after a step, or `None` if the step does not apply.
    pub(crate) fn after(self, step: StatusStep) -> Option<Self> {
        match (self, step) {
            (Self::Pending, StatusStep::Approve) => Some(Self::Approved),
            (Self::Pending | Self::Approved, StatusStep::Reject) => Some(Self::Rejected),
            (Self::Pending | Self::Approved, StatusStep::Expire) => Some(Self::Expired),
            (Self::Pending | Self::Approved, StatusStep::Withdraw) => Some(Self::Withdrawn),
            (Self::Approved, StatusStep::Claim) => Some(Self::Running),
            (Self::Running, StatusStep::Finish) => Some(Self::Done),
            (Self::Running, StatusStep::Lose) => Some(Self::Lost),
            // Every pair is listed, so that a new status or step does not compile until it is decided here.
            (
                Self::Pending
                | Self::Approved
                | Self::Running
                | Self::Done
                | Self::Rejected
                | Self::Expired
                | Self::Withdrawn
                | Self::Lost,
                StatusStep::Approve
                | StatusStep::Reject
                | StatusStep::Expire
                | StatusStep::Withdraw
                | StatusStep::Claim
                | StatusStep::Finish
                | StatusStep::Lose,
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

    const STEPS: [StatusStep; 7] = [
        StatusStep::Approve,
        StatusStep::Reject,
        StatusStep::Expire,
        StatusStep::Withdraw,
        StatusStep::Claim,
        StatusStep::Finish,
        StatusStep::Lose,
    ];

    #[test]
    fn a_settled_request_stays_settled() {
        for status in Status::ALL.into_iter().filter(|status| !status.is_open()) {
            for step in STEPS {
                assert_eq!(status.after(step), None, "{status} after {step:?}");
            }
        }
    }

    #[test]
    fn only_an_approved_request_is_claimed_and_only_a_pending_one_approved() {
        for status in Status::ALL {
            assert_eq!(status.after(StatusStep::Claim).is_some(), status == Status::Approved);
            assert_eq!(status.after(StatusStep::Approve).is_some(), status == Status::Pending);
        }
    }

    #[test]
    fn every_word_maps_back_to_its_status() {
        for status in Status::ALL {
            assert_eq!(Status::of(status.as_str()), Some(status));
        }
        assert_eq!(Status::of("Pending"), None);
    }
}
