//! `portcullis call`: one call, under the policy, recorded.

use super::Context;
use crate::approver::TerminalApprover;
use crate::arguments::CallArguments;
use crate::exit_code::Exit;
use crate::progress::StatusLine;
use crate::style::Look;
use crate::{json, opening, view};
use portcullis::text::{Lines, OneLine};
use portcullis::{Approver, Blob, Cancellation, DenyAll, Outcome, Output, Part, Reply, Request};
use std::io;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Digits of a call's id that are shown to a person.
const ID_DIGITS: usize = 8;

pub(super) async fn run(arguments: CallArguments, context: &Context) -> anyhow::Result<Exit> {
    let bytes = super::read_arguments(arguments.arguments, context)?;
    let status = StatusLine::new(context.terminal);
    let cancellation = Cancellation::new();
    let approver: Arc<dyn Approver> = if arguments.no_ask || !context.terminal.can_ask() {
        Arc::new(DenyAll)
    } else {
        Arc::new(TerminalApprover::new(context.terminal, &status, &cancellation))
    };
    let host = opening::open_with(context, &status, approver).await?;
    let request = Request::new(arguments.tool, bytes).session(&arguments.session).cancellation(cancellation.clone());
    let mut interrupts = Interrupts::listen()?;
    let reply = tokio::select! {
        reply = host.call(request) => Some(reply),
        // Dropping the call ends it at once, and is recorded.
        () = interrupts.twice(&cancellation) => None,
    };
    status.clear();
    match reply {
        Some(reply) => {
            show(&reply, context)?;
            Ok(Exit::after(&reply))
        }
        None => {
            super::fail("interrupted twice: the call was ended at once, and is recorded so", Exit::ToolFailed, context)
        }
    }
}

/// What a person or a supervisor sends to end a call.
struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Interrupts {
    /// From here on these signals do not end the process.
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }

    /// Cancels at the first, and returns at the second.
    async fn twice(&mut self, cancellation: &Cancellation) {
        self.next().await;
        cancellation.cancel();
        self.next().await;
    }
}

fn show(reply: &Reply, context: &Context) -> anyhow::Result<()> {
    if context.json {
        return Ok(context.terminal.print(&json::line(reply)?)?);
    }
    match &reply.output {
        Some(output) => show_output(output, reply, context)?,
        None => show_failure(reply, context),
    }
    Ok(())
}

fn show_output(output: &Output, reply: &Reply, context: &Context) -> io::Result<()> {
    let mut text = match output {
        Output::Text(text) => Lines(text).to_string(),
        Output::Json(json) => Lines(&json::indent(json)).to_string(),
        Output::Parts(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
    };
    if !text.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    context.terminal.print(&text)?;
    if context.terminal.has_reader() {
        let title = reply.title.as_deref().map(|title| format!("{} · ", OneLine(title))).unwrap_or_default();
        let line = format!("{title}{}", usage(reply));
        context.terminal.note(context.terminal.note_style().paint(Look::Quiet, line));
    }
    Ok(())
}

fn part(part: &Part) -> String {
    let blob = |kind, blob: &Blob| {
        let bytes = u64::try_from(blob.data.len()).unwrap_or(u64::MAX);
        format!("[{kind}, {}, {}; --json has its bytes]", OneLine(&blob.media_type), view::size(bytes))
    };
    match part {
        Part::Text(text) => Lines(text).to_string(),
        Part::Image(image) => blob("image", image),
        Part::File(file) => blob("file", file),
    }
}

fn usage(reply: &Reply) -> String {
    let run = &reply.usage.run;
    let milliseconds = run.wall.as_secs_f64() * 1000.0;
    format!("{milliseconds:.1} ms · {} of memory", view::size(run.memory_bytes))
}

fn show_failure(reply: &Reply, context: &Context) {
    let (terminal, outcome) = (context.terminal, reply.outcome());
    let style = terminal.note_style();
    let label = style.paint(Look::Bad, format!("{} ({}):", outcome.as_str(), reply.code));
    terminal.note(format_args!("{label} {}", Lines(&reply.message)));
    if terminal.has_reader() && outcome != Outcome::Invalid {
        let id = reply.id.get(..ID_DIGITS).unwrap_or(&reply.id);
        terminal.note(style.paint(Look::Quiet, format!("portcullis audit show --call {id}   has the details")));
    }
}
