//! `portcullis completions`: prints the completion script of a shell.

use super::Context;
use crate::arguments::{self, CompletionsArguments};
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use clap_complete::generate;
use serde_json::json;

/// The name under which the shell completes the program.
const PROGRAM: &str = "portcullis";

pub(super) fn run(arguments: &CompletionsArguments, context: &Context) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut arguments::program(), PROGRAM, &mut script);
    let script = String::from_utf8(script)?;
    let text = match context.json {
        true => json::document(
            DocumentKind::Completions,
            &json!({ "shell": arguments.shell.to_string(), "script": script }),
        )?,
        false => script,
    };
    context.terminal.print(&text)?;
    Ok(Exit::Completed)
}
