//! `portcullis approvals`: lists, answers and revokes approval requests and approvals.

mod approve;
mod identify;
mod list;
mod refusal;
mod show;

use super::Context;
use crate::arguments::{ApprovalsCommand, RejectArguments};
use crate::exit_code::Exit;
use crate::json;
use crate::opening::note_rollback;
use anyhow::ensure;
use identify::{Found, find};
use portcullis::{Answer, Approvals};
use serde_json::json;

pub(super) async fn run(command: ApprovalsCommand, context: &Context) -> anyhow::Result<Exit> {
    match command {
        ApprovalsCommand::List(arguments) => list::run(&arguments, context),
        ApprovalsCommand::Show(arguments) => show::run(&arguments.id, context),
        ApprovalsCommand::Approve(arguments) => approve::run(&arguments, context).await,
        ApprovalsCommand::Reject(arguments) => reject(&arguments, context),
        ApprovalsCommand::Revoke(arguments) => revoke(&arguments.id, context),
    }
}

/// Opens existing approvals. A command that only reads must not create a state directory.
fn open(context: &Context) -> anyhow::Result<Approvals> {
    let state = context.environment.state()?;
    ensure!(state.is_dir(), "there is no state directory {}, so there are no approvals", state.display());
    let approvals = portcullis::open_approvals(state)?;
    note_rollback(&approvals, context);
    Ok(approvals)
}

fn reject(arguments: &RejectArguments, context: &Context) -> anyhow::Result<Exit> {
    let approvals = open(context)?;
    let id = match find(&approvals, &arguments.id)? {
        Ok(Found::Question(question)) => question.id,
        Ok(Found::Answer(_)) => return super::fail(refusal::AN_ANSWER, Exit::Usage, context),
        Err(why) => return super::fail(&why, Exit::Usage, context),
    };
    let note = arguments.note.clone().unwrap_or_else(|| "the person said no".to_owned());
    match approvals.answer(&id, &Answer::No { note: Some(note) }) {
        Ok(_) => done(&id, "rejected", context),
        Err(error) => refusal::tell(&error, context),
    }
}

fn revoke(typed: &str, context: &Context) -> anyhow::Result<Exit> {
    let approvals = open(context)?;
    let id = match find(&approvals, typed)? {
        Ok(Found::Question(question)) => question.id,
        Ok(Found::Answer(answer)) => answer.id,
        Err(why) => return super::fail(&why, Exit::Usage, context),
    };
    match approvals.revoke(&id) {
        Ok(()) => done(&id, "revoked", context),
        Err(error) => refusal::tell(&error, context),
    }
}

/// Reports success.
fn done(id: &str, what: &str, context: &Context) -> anyhow::Result<Exit> {
    if context.json {
        context.terminal.print(&json::line(&json!({ "id": id, "status": what }))?)?;
    } else {
        context.terminal.note(what);
    }
    Ok(Exit::Completed)
}
