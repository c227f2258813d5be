//! `portcullis log`: lists the calls of the audit log in local time, and follows it.

mod filter;
mod layout;
mod logged_call;
mod logged_calls;
mod opened;
mod show;

use super::Context;
use super::conduct::Interrupts;
use crate::arguments::{LogArguments, LogCommand};
use crate::exit_code::Exit;
use crate::growing_log::GrowingLog;
use crate::json;
use crate::local_time::LocalTime;
use filter::LogFilter;
use logged_call::LoggedCall;
use logged_calls::LoggedCalls;
use opened::{open_log, tell_fault};
use std::convert::Infallible;
use std::time::Duration;

/// How often a log that is followed is looked at. A person sees a call at once.
const LOOK: Duration = Duration::from_millis(100);

pub(super) async fn run(arguments: &LogArguments, context: &Context) -> anyhow::Result<Exit> {
    if let Some(LogCommand::Show(show)) = &arguments.command {
        return show::run(&show.call, context).await;
    }
    let time = LocalTime::read();
    let mut calls = LoggedCalls::new(LogFilter::of(&arguments.filter, &time)?, arguments.limit);
    // From before the read, so that no entry falls in between. Entries that are read twice are skipped.
    let growing = GrowingLog::from_now_on(context.environment.state()?);
    let add = |entry: portcullis::audit::Entry| {
        calls.add(&entry.document);
        Ok(())
    };
    let verified = open_log(context).await?.read(add).await?;
    print(&calls.take(), &time, context)?;
    if calls.left_out > 0 {
        context.terminal.note(format_args!("{} earlier calls are not shown: raise --limit", calls.left_out));
    }
    let exit = tell_fault(&verified, context);
    if !arguments.follow {
        return Ok(exit);
    }
    let mut interrupts = Interrupts::listen()?;
    tokio::select! {
        failed = follow(growing, calls, &time, context) => failed.map(|never| match never {}),
        () = interrupts.next() => Ok(exit),
    }
}

/// Prints calls when they end.
async fn follow(
    mut growing: GrowingLog,
    mut calls: LoggedCalls,
    time: &LocalTime,
    context: &Context,
) -> anyhow::Result<Infallible> {
    loop {
        growing.news().iter().for_each(|entry| calls.add(entry));
        print(&calls.take_ended(), time, context)?;
        tokio::time::sleep(LOOK).await;
    }
}

fn print(calls: &[LoggedCall], time: &LocalTime, context: &Context) -> anyhow::Result<()> {
    let terminal = context.terminal;
    if context.json {
        for call in calls {
            terminal.print(&json::line(&call.document())?)?;
        }
    } else if !calls.is_empty() {
        terminal.print(&layout::lines(calls, time, terminal.style(), terminal.width()))?;
    }
    Ok(())
}
