//! Decides how an approval request is asked, from what the client supports and what the policy says.

use super::client::ClientAbilities;
use portcullis::Question;
use portcullis::policy::Unattended;

/// How an approval request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskBy {
    /// The client shows a form during its request.
    Form,
    /// The client gets the form as its result, and retries its request with the answer.
    Result,
    /// The client gets a task. It is asked there, or other channels answer.
    Task,
    /// Other channels answer, and the client's request waits.
    Elsewhere,
    /// No one may answer.
    NoOne(IfUnrecorded),
}

/// What happens to a call whose approval request cannot be answered, because the ledger cannot record the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfUnrecorded {
    /// It keeps waiting for another answer.
    Wait,
    /// It ends, and its client gets the error.
    Fail,
}

impl AskBy {
    /// Returns how an approval request is answered. A form that does not show the whole request is not shown. A client
    /// that supports tasks gets one rather than a form that keeps its request open.
    pub(super) fn of(client: ClientAbilities, question: &Question, unattended: Unattended) -> Self {
        let is_asked = client.is_asked(question);
        let is_denied = match unattended {
            Unattended::Deny => !is_asked,
            Unattended::Pending => false,
        };
        if is_denied {
            Self::NoOne(client.if_unrecorded())
        } else if is_asked && client.modern {
            Self::Result
        } else if client.tasks {
            Self::Task
        } else if is_asked {
            Self::Form
        } else {
            Self::Elsewhere
        }
    }
}

impl ClientAbilities {
    /// Returns what happens if a denial cannot be recorded. A client that can be given a result early gets the error.
    fn if_unrecorded(self) -> IfUnrecorded {
        if self.tasks || (self.modern && self.answers) { IfUnrecorded::Fail } else { IfUnrecorded::Wait }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::question;
    use super::AskBy::{Elsewhere, Form, Result, Task};
    use super::*;

    const WAITS: AskBy = AskBy::NoOne(IfUnrecorded::Wait);
    const FAILS: AskBy = AskBy::NoOne(IfUnrecorded::Fail);

    #[test]
    fn the_client_and_the_policy_decide_how_a_request_is_asked() {
        // Whether the client's answers count, whether it supports tasks, whether it is modern, and how it is asked: a
        // request that fits the form, one that does not, and that one if the policy denies unattended requests.
        let table = [
            (false, false, false, [Elsewhere, Elsewhere, WAITS]),
            (false, false, true, [Elsewhere, Elsewhere, WAITS]),
            (false, true, false, [Task, Task, FAILS]),
            (false, true, true, [Task, Task, FAILS]),
            (true, false, false, [Form, Elsewhere, WAITS]),
            (true, false, true, [Result, Elsewhere, FAILS]),
            (true, true, false, [Task, Task, FAILS]),
            (true, true, true, [Result, Task, FAILS]),
        ];
        let (short, long) = (question(), Question { arguments: "x".repeat(5000), ..question() });
        for (answers, tasks, modern, expected) in table {
            let client = ClientAbilities { answers, tasks, modern };
            let by = |question, unattended| AskBy::of(client, question, unattended);
            let ways = [by(&short, Unattended::Pending), by(&long, Unattended::Pending), by(&long, Unattended::Deny)];
            assert_eq!(ways, expected, "{client:?}");
            let denied = if answers { expected[0] } else { expected[2] };
            assert_eq!(by(&short, Unattended::Deny), denied, "{client:?}");
        }
    }
}
