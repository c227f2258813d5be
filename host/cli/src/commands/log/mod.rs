//! `portcullis log`: lists the calls of the audit log in local time, and follows it.

mod filter;
mod layout;
mod logged_call;
mod logged_calls;
mod logged_difference;
mod show;
mod tree;

use super::Context;
use super::conduct::Interrupts;
use crate::arguments::{LogArguments, LogCommand};
use crate::audit_log::{open_log, tell_missing_calls};
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::local_time::LocalTime;
use filter::LogFilter;
use logged_call::LoggedCall;
use logged_calls::LoggedCalls;
use portcullis::AuditReader;
use portcullis::audit::{Entry, LogPlace, Verified};
use std::time::Duration;

/// How often a log that is followed is looked at. A person sees a call at once.
const LOOK: Duration = Duration::from_millis(100);

pub(super) async fn run(arguments: &LogArguments, context: &Context) -> anyhow::Result<Exit> {
    if let Some(LogCommand::Show(show)) = &arguments.command {
        return show::run(&show.call, context).await;
    }
    let time = LocalTime::read();
    let mut calls = LoggedCalls::new(LogFilter::of(&arguments.filter, &time)?, arguments.limit);
    let (log, mut place) = (open_log(context).await?, LogPlace::default());
    let verified = read(&log, &mut place, &mut calls).await?;
    print(&calls.take(), &time, context)?;
    if calls.left_out > 0 {
        context.terminal.note(format_args!("{} earlier calls are not shown: raise --limit", calls.left_out));
    }
    if !arguments.follow || verified.fault.is_some() {
        return Ok(tell_missing_calls(&verified, context));
    }
    // Only now: while the log is read, a signal ends the process as usual.
    let mut interrupts = Interrupts::listen()?;
    tokio::select! {
        ended = follow(&log, place, calls, &time, context) => ended,
        () = interrupts.next() => Ok(Exit::Completed),
    }
}

/// Shows the last calls as a tree.
pub(super) async fn tree(limit: usize, context: &Context) -> anyhow::Result<Exit> {
    let time = LocalTime::read();
    let mut calls = LoggedCalls::new(LogFilter::default(), limit);
    let verified = read(&open_log(context).await?, &mut LogPlace::default(), &mut calls).await?;
    print(&tree::ordered(calls.take()), &time, context)?;
    if calls.left_out > 0 {
        context.terminal.note(format_args!("{} earlier calls are not shown: raise --limit", calls.left_out));
    }
    Ok(tell_missing_calls(&verified, context))
}

/// Prints calls when they end, until the log is found to be changed.
async fn follow(
    log: &AuditReader,
    mut place: LogPlace,
    mut calls: LoggedCalls,
    time: &LocalTime,
    context: &Context,
) -> anyhow::Result<Exit> {
    loop {
        let verified = read(log, &mut place, &mut calls).await?;
        print(&calls.take_ended(), time, context)?;
        if verified.fault.is_some() {
            return Ok(tell_missing_calls(&verified, context));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Reads the entries after a place.
async fn read(log: &AuditReader, place: &mut LogPlace, calls: &mut LoggedCalls) -> anyhow::Result<Verified> {
    let add = |entry: Entry| {
        calls.add(&entry.document);
        Ok(())
    };
    Ok(log.read_after(place, add).await?)
}

fn print(calls: &[LoggedCall], time: &LocalTime, context: &Context) -> anyhow::Result<()> {
    let terminal = context.terminal;
    if context.json {
        for call in calls {
            terminal.print(&json::document(DocumentKind::LoggedCall, &call.document())?)?;
        }
    } else if !calls.is_empty() {
        terminal.print(&layout::lines(calls, time, terminal.style(), terminal.width()))?;
    }
    Ok(())
}
