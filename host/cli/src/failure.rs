//! What is said when a command cannot do its work.

use crate::exit_code::Exit;
use crate::json;
use crate::style::Look;
use crate::terminal::Terminal;
use portcullis::text::Lines;
use portcullis::{OpenError, PlaceError};
use serde::Serialize;

#[derive(Serialize)]
struct Failure<'a> {
    error: &'a str,
}

/// Shows an error that ends the command.
pub(crate) fn show(terminal: Terminal, as_json: bool, error: &anyhow::Error) -> Exit {
    // The library's errors say their cause in their own words, so a cause that was told is not told again.
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            let separator = if text.is_empty() { "" } else { ": " };
            text = text + separator + &cause;
        }
    }
    if as_json {
        // An error is a text: it has JSON. When it cannot be written, nobody reads it.
        let _ = json::line(&Failure { error: &text }).map(|line| terminal.print(&line));
        return Exit::Usage;
    }
    terminal.note(format_args!("{} {}", terminal.note_style().paint(Look::Bad, "error:"), Lines(&text)));
    if let Some(hint) = error.downcast_ref().and_then(hint) {
        terminal.note(format_args!("  remedy: {hint}"));
    }
    Exit::Usage
}

/// What to do about it on the command line, where the library could not know.
fn hint(error: &OpenError) -> Option<&'static str> {
    match error {
        OpenError::Place(PlaceError::Io { what: "the plugin directory", .. }) => {
            Some("name the directory of plugins with --plugins DIR or PORTCULLIS_PLUGINS")
        }
        OpenError::Place(PlaceError::Io { what: "the state directory", .. }) => {
            Some("name another directory with --state DIR or PORTCULLIS_STATE")
        }
        OpenError::UnknownService { .. } => {
            Some("the command line has no services: open this policy with the application that has them")
        }
        OpenError::Place(_)
        | OpenError::NoPolicy(_)
        | OpenError::Policy { .. }
        | OpenError::DeadRule { .. }
        | OpenError::UnknownKey { .. }
        | OpenError::Grant { .. }
        | OpenError::Covers { .. }
        | OpenError::ProjectGrant(_)
        | OpenError::Client { .. }
        | OpenError::DeadNarrow { .. }
        | OpenError::Network(_)
        | OpenError::Engine(_)
        | OpenError::Audit(_)
        | OpenError::Approvals(_)
        | OpenError::Outputs(_)
        | OpenError::Load(_)
        | OpenError::Secret { .. }
        | OpenError::Unreserved { .. }
        | OpenError::Calls(_) => None,
    }
}
