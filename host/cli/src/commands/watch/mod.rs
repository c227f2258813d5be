//! `portcullis watch`: shows the calls of all hosts of a state directory and the open requests, and answers them.

mod alert;
mod answers;
mod call_line;
mod event_loop;
mod lines;
mod model;
mod request_feed;
mod review;
mod runs;
mod screen;
mod screen_guard;
mod session;

use super::Context;
use crate::arguments::WatchArguments;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::opening::note_rollback;
use crate::tty::Tty;
use anyhow::ensure;
use portcullis::live::LiveReader;

pub(super) async fn run(arguments: &WatchArguments, context: &Context) -> anyhow::Result<Exit> {
    let state = context.environment.state()?;
    // A command that only reads must not create a state directory.
    let none = || format!("there is no state directory {}", state.display());
    ensure!(state.is_dir(), CommandError::new(FailureCode::NoState, none()).help("make a call first"));
    let approvals = portcullis::open_approvals(context.environment.state_place()?).await?;
    note_rollback(&approvals, context);
    let reader = LiveReader::open(state);
    let terminal = context.terminal;
    let tty = if terminal.draws_screens() && !context.json { Tty::open().ok() } else { None };
    match tty {
        Some(tty) => event_loop::run(&tty, reader, &approvals, (arguments, context)).await,
        None => lines::run(reader, &approvals, context).await,
    }
}
