//! `portcullis watch`: shows the calls of all hosts of a state directory and the open requests, and answers them.

mod alert;
mod call_line;
mod lines;
mod model;
mod screen;
mod screen_guard;
mod session;

use super::Context;
use crate::arguments::WatchArguments;
use crate::exit_code::Exit;
use crate::opening::note_rollback;
use crate::tty::Tty;
use anyhow::ensure;
use portcullis::live::LiveReader;

pub(super) async fn run(arguments: &WatchArguments, context: &Context) -> anyhow::Result<Exit> {
    let state = context.environment.state()?;
    // A command that only reads must not create a state directory.
    ensure!(state.is_dir(), "there is no state directory {}: make a call first", state.display());
    let approvals = portcullis::open_approvals(state).await?;
    note_rollback(&approvals, context);
    let reader = LiveReader::open(state);
    let terminal = context.terminal;
    let tty = if terminal.draws_screens() && !context.json { Tty::open().ok() } else { None };
    match tty {
        Some(tty) => session::run(&tty, reader, &approvals, (arguments, context)).await,
        None => lines::run(reader, &approvals, context).await,
    }
}
