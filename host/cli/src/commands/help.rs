//! `portcullis help`: shows the help of the program or of a command.

use super::Context;
use crate::arguments::{self, HelpArguments};
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::json::{self, DocumentKind};
use clap::Command;
use portcullis::text::OneLine;
use serde_json::json;

pub(super) fn run(arguments: &HelpArguments, context: &Context) -> anyhow::Result<Exit> {
    let width = arguments::help_width(context.terminal.width());
    let mut command = arguments::parser(width);
    // This gives each command its full name and the options of every command.
    command.build();
    let named = named(&mut command, &arguments.command)?;
    let name = named.get_bin_name().unwrap_or_else(|| named.get_name()).to_owned();
    let text = help(arguments, width)?;
    if context.json {
        context.terminal.print(&json::document(DocumentKind::Help, &json!({ "command": name, "text": text }))?)?;
    } else {
        context.terminal.show_help(&text)?;
    }
    Ok(Exit::Completed)
}

/// Returns what `--help` shows. The parser alone knows whether it is the short or the long form.
fn help(arguments: &HelpArguments, width: usize) -> Result<String, CommandError> {
    let words = ["portcullis"].into_iter().chain(arguments.command.iter().map(String::as_str)).chain(["--help"]);
    match arguments::parser(width).try_get_matches_from(words) {
        // clap returns a help text as an error that belongs on stdout.
        Err(shown) if !shown.use_stderr() => Ok(shown.render().to_string()),
        Ok(_) | Err(_) => Err(CommandError::new(FailureCode::Usage, "this command has no help")),
    }
}

/// Finds a command by the words of its name.
fn named<'a>(command: &'a mut Command, words: &[String]) -> Result<&'a mut Command, CommandError> {
    let unknown = || {
        let error = format!("there is no command `{}`", OneLine(&words.join(" ")));
        CommandError::new(FailureCode::Usage, error).help("to list the commands, run `portcullis help`")
    };
    words.iter().try_fold(command, |found, word| found.find_subcommand_mut(word).ok_or_else(unknown))
}
