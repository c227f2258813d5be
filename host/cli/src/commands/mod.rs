//! One file per command. A command calls the library, shows the result, and returns the exit code.

mod accept;
mod approvals;
mod audit;
mod bench;
mod build;
mod call;
mod check;
mod completions;
mod conduct;
mod console;
mod dev;
mod doctor;
mod editing;
mod explain;
mod export;
mod help;
mod import;
mod init;
mod inspect;
mod list;
mod log;
mod login;
mod making;
mod man;
mod new;
mod no_result;
mod reply;
mod serve;
mod server;
mod streamed;
mod suggest;
mod test;
mod trust;
mod typed_arguments;
mod uninstall;
mod verify_all;
mod version;
mod waiting;
mod watch;

use crate::arguments::{AuditCommand, Command};
use crate::context::Context;
use crate::exit_code::Exit;
use portcullis::policy::Decision;

/// Runs a command.
///
/// # Errors
/// The command failed.
pub(crate) async fn run(command: Command, context: &Context) -> anyhow::Result<Exit> {
    match command {
        Command::Init(arguments) => init::run(&arguments, context).await,
        Command::Doctor => doctor::run(context).await,
        Command::Uninstall(arguments) => uninstall::run(&arguments, context).await,
        Command::List(arguments) => list::run(&arguments, context).await,
        Command::Inspect(arguments) => inspect::run(&arguments, context).await,
        Command::Check(arguments) => check::run(&arguments, context).await,
        Command::Call(arguments) => call::run(arguments, context).await,
        Command::Serve(arguments) => serve::run(arguments, context).await,
        Command::Server(command) => server::run(command, context).await,
        Command::Login(arguments) => login::log_in(&arguments, context).await,
        Command::Logout(arguments) => login::log_out(&arguments, context).await,
        Command::Import(arguments) => import::run(&arguments, context).await,
        Command::Export(arguments) => export::run(&arguments, context).await,
        Command::Explain(arguments) => explain::run(arguments, context).await,
        Command::Allow(arguments) => editing::rule(Decision::Allow, &arguments, context).await,
        Command::Ask(arguments) => editing::rule(Decision::Ask, &arguments, context).await,
        Command::Deny(arguments) => editing::rule(Decision::Deny, &arguments, context).await,
        Command::Grant(arguments) => editing::grant(&arguments, context).await,
        Command::Pause(arguments) => editing::pause(&arguments, context),
        Command::Resume(arguments) => editing::resume(&arguments, context).await,
        Command::Suggest(arguments) => suggest::run(&arguments, context).await,
        Command::Approvals(command) => approvals::run(command, context).await,
        Command::Console(arguments) => console::run(&arguments, context).await,
        Command::Watch(arguments) => watch::run(&arguments, context).await,
        Command::Accept(arguments) => accept::run(&arguments, context).await,
        Command::Trust(arguments) => trust::run(&arguments, context).await,
        Command::Log(arguments) => log::run(&arguments, context).await,
        Command::Audit(AuditCommand::Show(arguments)) => audit::show(&arguments, context).await,
        Command::Audit(AuditCommand::Verify(arguments)) if arguments.all => verify_all::run(&arguments, context).await,
        Command::Audit(AuditCommand::Verify(_)) => audit::verify(context).await,
        Command::New(arguments) => new::run(&arguments, context),
        Command::Build(arguments) => build::run(&arguments, context).await,
        Command::Test(arguments) => test::run(&arguments, context).await,
        Command::Bench(arguments) => bench::run(&arguments, context).await,
        Command::Dev(arguments) => dev::run(&arguments, context).await,
        Command::Completions(arguments) => completions::run(&arguments, context),
        Command::Man(arguments) => man::run(&arguments, context),
        Command::Help(arguments) => help::run(&arguments, context),
        Command::Version => version::run(context),
    }
}
