//! One file per command. A command calls the library, shows the result, and returns the exit code.

mod approvals;
mod audit;
mod build;
mod call;
mod check;
mod conduct;
mod dev;
mod explain;
mod export;
mod inspect;
mod list;
mod making;
mod new;
mod reply;
mod serve;
mod streamed;
mod test;
mod trust;
mod waiting;

use crate::arguments::{AuditCommand, Command};
use crate::context::Context;
use crate::exit_code::Exit;
use crate::json;
use crate::style::Look;
use anyhow::Context as _;
use portcullis::policy::limits::ARGUMENTS_CEILING_BYTES;
use portcullis::text::Lines;
use std::io::Read;

/// Runs a command.
///
/// # Errors
/// The command failed.
pub(crate) async fn run(command: Command, context: &Context) -> anyhow::Result<Exit> {
    match command {
        Command::List(arguments) => list::run(&arguments, context).await,
        Command::Inspect(arguments) => inspect::run(&arguments, context).await,
        Command::Check(arguments) => check::run(&arguments, context).await,
        Command::Call(arguments) => call::run(arguments, context).await,
        Command::Serve(arguments) => serve::run(arguments, context).await,
        Command::Export(arguments) => export::run(&arguments, context).await,
        Command::Explain(arguments) => explain::run(arguments, context).await,
        Command::Approvals(command) => approvals::run(command, context).await,
        Command::Trust(arguments) => trust::run(&arguments, context).await,
        Command::Audit(AuditCommand::Show(arguments)) => audit::show(&arguments, context),
        Command::Audit(AuditCommand::Verify) => audit::verify(context),
        Command::New(arguments) => new::run(&arguments, context),
        Command::Build(arguments) => build::run(&arguments, context).await,
        Command::Test(arguments) => test::run(&arguments, context).await,
        Command::Dev(arguments) => dev::run(&arguments, context).await,
        Command::CompileWorker => anyhow::bail!("`compile-worker` is for internal use"),
    }
}

/// Returns the arguments of a call: the text itself, or for `-` the content of stdin, up to just above the size limit.
fn read_arguments(typed: String, context: &Context) -> anyhow::Result<Vec<u8>> {
    if typed != "-" {
        return Ok(typed.into_bytes());
    }
    if context.terminal.types_input() && context.terminal.has_reader() {
        context.terminal.note("type the arguments as a JSON object, and end with Ctrl-D");
    }
    let mut bytes = Vec::new();
    // Read one byte more than any policy accepts, so that longer arguments are refused and not cut.
    let most = ARGUMENTS_CEILING_BYTES as u64 + 1;
    std::io::stdin().lock().take(most).read_to_end(&mut bytes).context("cannot read stdin")?;
    Ok(bytes)
}

/// Reports why there is no result, and returns the exit code.
fn fail(why: &str, exit: Exit, context: &Context) -> anyhow::Result<Exit> {
    if context.json {
        context.terminal.print(&json::line(&serde_json::json!({ "error": why }))?)?;
    } else {
        let style = context.terminal.note_style();
        context.terminal.note(format_args!("{} {}", style.paint(Look::Bad, "error:"), Lines(why)));
    }
    Ok(exit)
}
