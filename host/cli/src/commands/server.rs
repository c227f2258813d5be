//! `portcullis server`: adds, installs, lists and removes the MCP servers of the policy.

mod add;
pub(super) mod change;
pub(super) mod first_start;
mod install;
mod list;
mod listed;
pub(super) mod packages;
mod remove;
mod replace;
pub(super) mod section;

use crate::arguments::ServerCommand;
use crate::context::Context;
use crate::exit_code::Exit;

/// Runs a command.
///
/// # Errors
/// The command failed.
pub(super) async fn run(command: ServerCommand, context: &Context) -> anyhow::Result<Exit> {
    match command {
        ServerCommand::Add(arguments) if arguments.replace => replace::run(&arguments, context).await,
        ServerCommand::Add(arguments) => add::run(&arguments, context).await,
        ServerCommand::Install(arguments) => install::run(&arguments, context).await,
        ServerCommand::List(arguments) => list::run(&arguments, context).await,
        ServerCommand::Remove(arguments) => remove::run(&arguments, context).await,
    }
}
