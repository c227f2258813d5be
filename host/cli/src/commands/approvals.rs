//! `portcullis approvals`: lists, answers and revokes approval requests and approvals.

mod approve;
mod done;
mod identify;
mod list;
mod opened;
mod refusal;
mod resuming;
mod show;

use super::Context;
use super::no_result::fail_as;
use crate::arguments::{ApprovalsCommand, RejectArguments};
use crate::exit_code::Exit;
use crate::failure::FailureCode;
use done::done;
use identify::{IdentifiedApproval, find};
use opened::open;
use portcullis::Answer;
pub(super) use resuming::{RunPlace, resume, run_places};

pub(super) async fn run(command: ApprovalsCommand, context: &Context) -> anyhow::Result<Exit> {
    match command {
        ApprovalsCommand::List(arguments) => list::run(&arguments, context).await,
        ApprovalsCommand::Show(arguments) => show::run(&arguments.id, context).await,
        ApprovalsCommand::Approve(arguments) => approve::run(&arguments, context).await,
        ApprovalsCommand::Reject(arguments) => reject(&arguments, context).await,
        ApprovalsCommand::Revoke(arguments) => revoke(&arguments.id, context).await,
    }
}

async fn reject(arguments: &RejectArguments, context: &Context) -> anyhow::Result<Exit> {
    let approvals = open(context).await?;
    let id = match find(&approvals, &arguments.id).await? {
        Ok(IdentifiedApproval::Question(question)) => question.id,
        Ok(IdentifiedApproval::Answer(_)) => {
            return fail_as(FailureCode::NotARequest, refusal::AN_ANSWER, Exit::Usage, context);
        }
        Err(why) => return fail_as(FailureCode::UnknownApproval, &why, Exit::Usage, context),
    };
    let note = arguments.note.clone().unwrap_or_else(|| "the person said no".to_owned());
    match approvals.answer(&id, &Answer::No { note: Some(note) }).await {
        Ok(_) => done(&id, "rejected", context),
        Err(error) => refusal::tell(&error, context),
    }
}

async fn revoke(typed: &str, context: &Context) -> anyhow::Result<Exit> {
    let approvals = open(context).await?;
    let id = match find(&approvals, typed).await? {
        Ok(IdentifiedApproval::Question(question)) => question.id,
        Ok(IdentifiedApproval::Answer(answer)) => answer.id,
        Err(why) => return fail_as(FailureCode::UnknownApproval, &why, Exit::Usage, context),
    };
    match approvals.revoke(&id).await {
        Ok(()) => done(&id, "revoked", context),
        Err(error) => refusal::tell(&error, context),
    }
}
