//! `portcullis import`: takes MCP servers from the configurations of agents into the policy, each confined, and
//! replaces them there by Portcullis if the user wants it. Everything in a configuration is untrusted, and no secret of
//! one is shown or written into the policy.

mod address;
mod applying;
mod directories;
mod launch;
mod naming;
mod plan;
mod proposal;
mod replacing;
mod report;
mod secret_files;
mod variables;

use super::editing::KnownPolicy;
use super::server::change::confirm;
use crate::arguments::ImportArguments;
use crate::context::Context;
use crate::exit_code::Exit;
use plan::ImportPlan;

/// Imports the servers.
///
/// # Errors
/// The policy cannot be used or replaced, or a file cannot be written.
pub(super) async fn run(arguments: &ImportArguments, context: &Context) -> anyhow::Result<Exit> {
    let known = KnownPolicy::read_alone(context).await?;
    let plan = ImportPlan::of(arguments, &known, context).await?;
    if !context.json {
        context.terminal.print(&report::plan(&plan, &known, arguments, context))?;
    }
    if arguments.dry_run || plan.is_empty(arguments) {
        return report::end(&plan, &known, None, context);
    }
    if let Some(exit) = confirm("Write this, and start each server once?", arguments.yes, context).await? {
        return Ok(exit);
    }
    let applied = applying::run(&plan, &known, arguments, context).await?;
    report::end(&plan, &known, Some(&applied), context)
}
