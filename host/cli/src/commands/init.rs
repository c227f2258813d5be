//! `portcullis init`: sets a project up. It asks four questions, writes a policy for the project, installs the shipped
//! plugins, registers the server with the agents that it finds, and makes one call through all of it.
//!
//! Everything is shown before it is written. A second run changes nothing. What it wrote is recorded, so that `--undo`
//! and `portcullis uninstall` can take it back.

mod answers;
mod apply;
mod places;
mod plan;
mod policy_text;
mod prompts;
mod report;
mod shipped;
mod trial;
pub(super) mod undo;

pub(super) use places::InitPlaces;

use super::Context;
use super::no_result::fail_as;
use crate::arguments::InitArguments;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::init_record::InitRecord;
use answers::Answers;
use anyhow::bail;
use plan::InitPlan;

pub(super) async fn run(arguments: &InitArguments, context: &Context) -> anyhow::Result<Exit> {
    let places = InitPlaces::of(arguments.directory.as_deref(), context)?;
    let mut record = InitRecord::read(&places.config)?;
    if arguments.undo {
        return undo::run(&places, record, arguments.yes, context).await;
    }
    let interactive = !arguments.yes;
    if interactive && context.json {
        let error = CommandError::new(FailureCode::NoTerminal, "with --json there are no questions");
        bail!(error.help("add --yes to use the defaults, and flags for other answers"));
    }
    if interactive && !context.terminal.can_ask() {
        let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
        bail!(error.help("run `portcullis init --yes` to use the defaults"));
    }
    // A link that leads nowhere counts as a policy, so that `init` does not replace it.
    let answers = match (places.policy.symlink_metadata().is_ok(), interactive) {
        // The policy that is there stays as it is, so there is nothing to ask.
        (true, _) => None,
        (false, true) => Some(prompts::ask(&places, arguments, context).await?),
        (false, false) => Some(Answers::of_arguments(arguments)),
    };
    let plan = InitPlan::of(&places, answers.as_ref(), arguments, &record)?;
    if !context.json {
        context.terminal.print(&report::plan(&plan, &places, context))?;
    }
    if plan.is_empty() {
        let call = trial::run(&places, context).await?;
        return report::end(&plan, &places, &call, context);
    }
    if interactive && !prompts::confirmed(context, "Write this? [Y/n] ").await? {
        return fail_as(FailureCode::NotConfirmed, "nothing was changed", Exit::Denied, context);
    }
    apply::run(&plan, &places, &mut record)?;
    let call = trial::run(&places, context).await?;
    report::end(&plan, &places, &call, context)
}
