//! Runs approved calls that no other process runs, on the first screen of the terminal.

use super::answers::CallToRun;
use crate::commands::approvals::resume;
use crate::commands::conduct::Interrupts;
use crate::context::Context;
use crate::failure;
use crate::short_id::short_id;
use crate::style::TextStyle;
use portcullis::text::OneLine;
use std::future::ready;

/// Runs the calls one after another, and shows each reply. After a signal, the calls that have not begun do not run.
pub(super) async fn run_calls(calls: &[CallToRun], context: &Context) -> anyhow::Result<()> {
    let terminal = context.terminal;
    let mut interrupts = Interrupts::listen()?;
    for (index, call) in calls.iter().enumerate() {
        let line = format!("{}  ({}, {} of {})", call.tool, short_id(&call.request), index + 1, calls.len());
        terminal.note(terminal.note_style().paint(TextStyle::Strong, OneLine(&line)));
        if let Err(error) = resume(&call.request, &call.tool, context).await {
            // The other calls were approved too, so one that fails does not end the list.
            let _ = failure::show(terminal, false, &error);
        }
        // Does not wait: only asks whether a signal came during the call.
        let is_interrupted = tokio::select! {
            biased;
            () = interrupts.next() => true,
            () = ready(()) => false,
        };
        if is_interrupted && index + 1 < calls.len() {
            let left: Vec<&str> = calls[index + 1..].iter().map(|call| short_id(&call.request)).collect();
            terminal.note(format_args!("To run the other calls: `portcullis approvals approve {}`", left.join(" ")));
            break;
        }
    }
    Ok(())
}
