//! Reviews a call before it runs. It can only tighten what the policy decided, and the operating system confines the
//! program in any case.

use portcullis_sdk::prelude::*;

use crate::command::{self, Explanation};
use crate::exec::{Exec, ProgramKey};
use crate::hidden;
use crate::run::Run;

/// Reviews a call.
pub(crate) fn review(call: &Review) -> Verdict {
    let verdict = match call.tool() {
        "run" => call.parse().map(|call| run(&call)),
        "exec" => call.parse().map(|call| exec(&call)),
        tool => Err(Failure::invalid(format!("`shell` has no tool `{tool}`"))),
    };
    // Without the arguments, there is nothing that an approver could judge.
    verdict.unwrap_or_else(|failure| Verdict::refuse(failure.text()))
}

fn run(call: &Run) -> Verdict {
    check_hidden(call.directory.iter().chain([&call.command]))
        .unwrap_or_else(|| verdict(&command::explain(&call.command)))
}

fn exec(call: &Exec) -> Verdict {
    check_hidden(call.directory.iter().chain(&call.arguments)).unwrap_or_else(|| match call.program {
        ProgramKey::Sh => verdict(&command::explain_shell(&call.arguments, call.stdin.as_deref())),
        // The call names the program itself, and no shell reads its arguments.
        ProgramKey::Git | ProgramKey::Python | ProgramKey::Cargo | ProgramKey::Node | ProgramKey::Make => {
            Verdict::Clear
        }
    })
}

/// Requests approval if a text hides something from its reader.
fn check_hidden<'a>(mut texts: impl Iterator<Item = &'a String>) -> Option<Verdict> {
    let hidden = texts.find_map(|text| hidden::first(text))?;
    Some(Verdict::ask(format!("the command has a character that a reader does not see: {hidden}")))
}

fn verdict(explanation: &Explanation) -> Verdict {
    match explanation.doubt() {
        None => Verdict::Clear,
        Some(doubt) => Verdict::ask(doubt),
    }
}
