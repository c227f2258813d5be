//! Answers the requests that a person was shown, each only if it still is what was shown, and says what became of them.

use super::review::ReviewedRequest;
use crate::commands::approvals::{RunPlace, run_places};
use crate::question::FILE_CHANGED;
use crate::short_id::short_id;
use portcullis::approvals::{ApprovalError, Onward, ShownAnswer};
use portcullis::text::{OneLine, WithCauses};
use portcullis::{Answer, Approvals};
use std::collections::BTreeMap;

/// An approved call that no other process runs.
pub(super) struct CallToRun {
    pub(super) request: String,
    pub(super) tool: String,
}

/// What became of one answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AnswerOutcome {
    RunsThere,
    RunsLater,
    RunsHere,
    Denied,
    Changed,
    /// The answer had no effect, for this reason.
    Failed(String),
}

/// What became of the answers to one or several requests.
#[derive(Default)]
pub(super) struct WatchAnswers {
    outcomes: BTreeMap<AnswerOutcome, usize>,
    /// The calls that this process should run.
    pub(super) to_run: Vec<CallToRun>,
}

impl WatchAnswers {
    fn add(&mut self, outcome: AnswerOutcome) {
        *self.outcomes.entry(outcome).or_default() += 1;
    }

    fn failed(&mut self, error: &ApprovalError) {
        self.add(AnswerOutcome::Failed(OneLine(&WithCauses(error).to_string()).to_string()));
    }

    /// Says what became of the answers to several requests, one line for each result.
    pub(super) fn message(&self) -> String {
        let line = |(outcome, count): (&AnswerOutcome, &usize)| match outcome {
            AnswerOutcome::RunsThere => format!("{count} approved: they run in the processes that made them"),
            AnswerOutcome::RunsLater => format!("{count} approved: they run when their clients make the calls again"),
            AnswerOutcome::RunsHere => format!("{count} approved: no call waits any more, so they run here"),
            AnswerOutcome::Denied => format!("{count} denied"),
            AnswerOutcome::Changed => {
                format!("{count} not approved: changed since they were shown. Review them again.")
            }
            AnswerOutcome::Failed(why) => format!("{count} not answered: {why}"),
        };
        self.outcomes.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Says what became of the answer to one request.
    pub(super) fn message_of_one(&self, request: &ReviewedRequest) -> String {
        let (tool, id) = (&request.question.tool, short_id(&request.question.id));
        match self.outcomes.keys().next() {
            Some(AnswerOutcome::RunsThere) => format!("approved {tool}: its call runs"),
            Some(AnswerOutcome::RunsLater) => format!("approved {tool}: its call runs when its client makes it again"),
            Some(AnswerOutcome::RunsHere) => format!("approved {tool}: no call waits any more, so it runs here"),
            Some(AnswerOutcome::Denied) => format!("denied {tool}"),
            Some(AnswerOutcome::Changed) => FILE_CHANGED.to_owned(),
            Some(AnswerOutcome::Failed(why)) => format!("{id} not answered: {why}"),
            None => String::new(),
        }
    }
}

/// Gives one answer to each of these requests.
pub(super) async fn answer(approvals: &Approvals, requests: &[ReviewedRequest], answer: &Answer) -> WatchAnswers {
    let mut answers = WatchAnswers::default();
    let (mut elsewhere, mut here) = (Vec::new(), Vec::new());
    for request in requests {
        let id = &request.question.id;
        match approvals.answer_as_shown(id, &request.digest, answer).await {
            Ok(ShownAnswer::Given(Onward::There)) => elsewhere.push(id.clone()),
            Ok(ShownAnswer::Given(Onward::Here)) => here.push(id.clone()),
            // Only a denial ends a call.
            Ok(ShownAnswer::Given(Onward::Ended)) => answers.add(AnswerOutcome::Denied),
            Ok(ShownAnswer::Changed) => answers.add(AnswerOutcome::Changed),
            Err(error) => answers.failed(&error),
        }
    }
    // A process can end between the answer and its call.
    for (id, place) in run_places(approvals, elsewhere).await {
        match place {
            RunPlace::There => answers.add(AnswerOutcome::RunsThere),
            RunPlace::Later => answers.add(AnswerOutcome::RunsLater),
            RunPlace::Here => here.push(id),
            RunPlace::Nowhere(error) => answers.failed(&error),
        }
    }
    for request in requests.iter().filter(|request| here.contains(&request.question.id)) {
        answers.add(AnswerOutcome::RunsHere);
        let (request, tool) = (request.question.id.clone(), request.question.tool.to_string());
        answers.to_run.push(CallToRun { request, tool });
    }
    answers
}
