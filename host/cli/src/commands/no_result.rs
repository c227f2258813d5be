//! Reports why a command has no result.

use crate::context::Context;
use crate::exit_code::Exit;
use crate::json;
use crate::style::TextStyle;
use portcullis::text::Lines;

/// Reports why there is no result, and returns the exit code.
pub(super) fn fail(why: &str, exit: Exit, context: &Context) -> anyhow::Result<Exit> {
    if context.json {
        context.terminal.print(&json::line(&serde_json::json!({ "error": why }))?)?;
    } else {
        let style = context.terminal.note_style();
        context.terminal.note(format_args!("{} {}", style.paint(TextStyle::Bad, "error:"), Lines(why)));
    }
    Ok(exit)
}
