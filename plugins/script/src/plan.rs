//! Runs a script so that an approver is asked once about all its calls that need approval.
//!
//! The first pass plans: calls that need no approval are made, and one that needs approval is noted and answered with
//! an empty text. When the plan ends, an approver is asked about the noted calls. The second pass makes them. It takes
//! the answers of the first pass up to the first noted call, so that nothing with an effect runs twice. A script that
//! needs no approval has one pass.
//!
//! The plan is a guess, because the script does not see real answers. It never decides: the host lets a call run only
//! with exactly the arguments that were approved, and asks again about any other.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use portcullis_sdk::prelude::*;
use portcullis_sdk::{Outlook, Output, Part};

use crate::bridge::{self, Bridge, PlanningBridge};
use crate::pass::{Pass, run_pass};

/// Maximum bytes of the answers that are kept for the second pass. A script with larger ones asks call by call.
const KEPT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum calls of one plan: as many as an approver reads in a few requests.
const PLANNED_MAX: usize = 400;

/// The end of a script whose second pass makes other calls than the first one.
const ANOTHER_WAY: &str = "The script was run once to plan its calls, and the second run made other calls. So it was \
    stopped before a call with an effect could run twice. Do not use the time or random numbers in the arguments of calls.";

/// Runs a script.
pub(crate) fn run(code: &str, bridge: &dyn PlanningBridge) -> Pass {
    let plan = Plan::new(bridge);
    let pass = run_pass(code, &plan);
    let Plan { noted, made, .. } = plan;
    let noted = noted.into_inner();
    if noted.is_empty() {
        return pass;
    }
    bridge.approve(&noted);
    run_pass(code, &Replay { bridge, made: RefCell::new(made.into_inner()) })
}

type Answer = Result<Success, Failure>;

/// The bridge of the first pass.
struct Plan<'a> {
    bridge: &'a dyn PlanningBridge,
    /// The calls that need approval, in the order of the script.
    noted: RefCell<Vec<ToolCall>>,
    /// The calls that were made before the first noted one, with their answers.
    made: RefCell<VecDeque<(ToolCall, Answer)>>,
    kept_bytes: Cell<usize>,
}

impl<'a> Plan<'a> {
    fn new(bridge: &'a dyn PlanningBridge) -> Self {
        Self { bridge, noted: RefCell::default(), made: RefCell::default(), kept_bytes: Cell::new(0) }
    }

    /// Makes calls that need no approval, and keeps their answers.
    fn make(&self, calls: &[ToolCall]) -> Result<Vec<Answer>, Failure> {
        let answers = bridge::completed(self.bridge.call_all(calls)?, calls.len());
        if self.kept_bytes.get() <= KEPT_BYTES_MAX {
            let bytes: usize = answers.iter().flatten().map(bytes).sum();
            self.kept_bytes.set(self.kept_bytes.get() + bytes);
            self.made.borrow_mut().extend(calls.iter().cloned().zip(answers.iter().cloned()));
        }
        if self.kept_bytes.get() > KEPT_BYTES_MAX {
            // Without all answers there is no second pass, so this one is the real one.
            self.made.borrow_mut().clear();
        }
        Ok(answers)
    }

    /// Answers a call after the first noted one. It may run twice, so it is made only if it can only read.
    fn answer(&self, call: &ToolCall, outlook: Outlook) -> Result<Answer, Failure> {
        match outlook {
            Outlook::Fails(failure) => Ok(Err(failure)),
            Outlook::NeedsApproval if self.noted.borrow().len() < PLANNED_MAX => {
                self.noted.borrow_mut().push(call.clone());
                Ok(Ok(Success::new(Output::Text(String::new()))))
            }
            Outlook::Runs if self.bridge.only_reads(&call.tool) => {
                let answers = self.bridge.call_all(std::slice::from_ref(call))?;
                Ok(bridge::completed(answers, 1).remove(0))
            }
            // This ends only the first pass. The second one makes all calls that are left.
            Outlook::NeedsApproval | Outlook::Runs => Err(Failure::failed("the plan ends here")),
        }
    }
}

impl Bridge for Plan<'_> {
    fn tools(&self) -> Vec<String> {
        self.bridge.tools()
    }

    fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<Answer>, Failure> {
        if self.kept_bytes.get() > KEPT_BYTES_MAX {
            // There is no second pass any more, so each call asks by itself.
            return self.bridge.call_all(calls);
        }
        let outlooks = self.bridge.foresee(calls);
        if self.noted.borrow().is_empty() && !outlooks.contains(&Outlook::NeedsApproval) {
            return self.make(calls);
        }
        calls.iter().zip(outlooks).map(|(call, outlook)| self.answer(call, outlook)).collect()
    }
}

/// The bridge of the second pass. It repeats the answers of the first one, while the script makes the same calls.
struct Replay<'a> {
    bridge: &'a dyn PlanningBridge,
    made: RefCell<VecDeque<(ToolCall, Answer)>>,
}

impl Bridge for Replay<'_> {
    fn tools(&self) -> Vec<String> {
        self.bridge.tools()
    }

    fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<Answer>, Failure> {
        let mut made = self.made.borrow_mut();
        if made.len() >= calls.len() && calls.iter().zip(made.iter()).all(|(call, (known, _))| call == known) {
            return Ok(made.drain(..calls.len()).map(|(_, answer)| answer).collect());
        }
        // The script went another way. What it did before must not be done twice. A call that failed may have had a
        // part of its effect.
        if made.iter().any(|(call, _)| !self.bridge.only_reads(&call.tool)) {
            return Err(Failure::failed(ANOTHER_WAY));
        }
        made.clear();
        self.bridge.call_all(calls)
    }
}

fn bytes(success: &Success) -> usize {
    match &success.output {
        Output::Text(text) => text.len(),
        Output::Json(json) => json.to_string().len(),
        Output::Parts(parts) => parts.iter().map(part_bytes).sum(),
    }
}

fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Image(blob) | Part::File(blob) => blob.data.len(),
    }
}
