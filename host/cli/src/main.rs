//! The portcullis command line: turns what a user types into library calls, and their results into text.
//!
//! Only this crate erases the types of errors, writes output and ends the process. It must not know how a call is
//! decided or run: every command asks the library and shows the result.

mod answer;
mod approver;
mod arguments;
mod audit_log;
mod browser;
mod clients;
mod command_error;
mod commands;
mod confirmation;
mod context;
mod environment;
mod exit_code;
mod failure;
mod failure_code;
mod init_record;
mod json;
mod loading_notes;
mod local_time;
mod message_queue;
mod metrics;
mod opening;
mod own_confinement;
mod pause_note;
mod plugin_file;
mod policy_file;
mod policy_lines;
mod policy_pause;
mod policy_report;
mod progress;
mod project;
mod prompt;
mod question;
mod remedy;
mod schema_summary;
mod secret_words;
mod server_log;
mod shared_ledger;
mod short_id;
mod style;
mod table;
#[cfg(feature = "otlp")]
mod telemetry;
#[cfg(not(feature = "otlp"))]
#[path = "telemetry/absent.rs"]
mod telemetry;
mod terminal;
mod time;
mod tty;
mod unified_diff;
mod user_files;
mod view;
mod wrap;

use arguments::{Arguments, ColourChoice, Command, LogFormat};
use context::Context;
use environment::Environment;
use exit_code::Exit;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::process::ExitCode;
use terminal::Terminal;

fn main() -> ExitCode {
    // First, because a process that was started as a compile worker or as a broker ends in it.
    portcullis::init();
    leave_no_core();
    let terminal = Terminal::open(environment::capabilities(ColourChoice::Auto));
    let arguments = match arguments::parse(terminal.width()) {
        Ok(arguments) => arguments,
        Err(error) => return failure::show_usage(&error, terminal, environment::asks_for_json()),
    };
    // The one above only shows errors of the command line. This one has the colour that is asked for.
    let terminal = Terminal::open(environment::capabilities(arguments.options.color));
    let log_format = if let Command::Serve(serve) = &arguments.command { serve.log_format } else { LogFormat::Text };
    let terminal = terminal.in_format(log_format);
    let json = arguments.options.json;
    let exit = run(arguments, terminal).unwrap_or_else(|error| failure::show(terminal, json, &error));
    terminal.end();
    exit.into()
}

/// Turns off core dumps, because they would contain the secrets of clients.
fn leave_no_core() {
    // Lowering a limit needs no privilege. If it fails anyway, calls are no less safe than before.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

fn run(arguments: Arguments, terminal: Terminal) -> anyhow::Result<Exit> {
    let json = arguments.options.json;
    let context = Context { environment: Environment::resolve(arguments.options), terminal, json };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let exit = runtime.block_on(commands::run(arguments.command, &context));
    // A blocking read of standard input must not keep the process alive.
    runtime.shutdown_background();
    exit
}
