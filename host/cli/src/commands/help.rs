//! `portcullis help`: shows the help of the program or of a command.

use super::Context;
use crate::arguments::{self, HelpArguments};
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::json::{self, DocumentKind};
use crate::wrap::wrapped;
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
    let text = named.render_long_help().to_string();
    let text = match context.json {
        true => json::document(DocumentKind::Help, &json!({ "command": name, "text": text }))?,
        false => wrapped(&text, Some(width)),
    };
    context.terminal.print(&text)?;
    Ok(Exit::Completed)
}

/// Finds a command by the words of its name.
fn named<'a>(command: &'a mut Command, words: &[String]) -> Result<&'a mut Command, CommandError> {
    let unknown = || {
        let error = format!("there is no command `{}`", OneLine(&words.join(" ")));
        CommandError::new(FailureCode::Usage, error).help("to list the commands, run `portcullis help`")
    };
    words.iter().try_fold(command, |found, word| found.find_subcommand_mut(word).ok_or_else(unknown))
}
