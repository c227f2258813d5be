//! `portcullis watch` without a terminal: one line, or one JSON document, for each change.

use super::super::Context;
use super::super::conduct::Interrupts;
use super::alert;
use super::call_line::call_line;
use super::model::WatchModel;
use super::request_feed::RequestFeed;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::short_id::short_id;
use crate::style::Style;
use crate::time::Now;
use portcullis::Approvals;
use portcullis::live::{LiveEvent, LiveReader};
use serde_json::json;

/// Columns of a line. A file or a pager has no width, and a target has at most 512 bytes.
const WIDTH: usize = 1000;

/// Prints until interrupted.
pub(super) async fn run(mut reader: LiveReader, approvals: &Approvals, context: &Context) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    let mut model = WatchModel::default();
    let mut feed = RequestFeed::start(approvals);
    loop {
        tokio::select! {
            () = interrupts.next() => return Ok(Exit::Completed),
            event = reader.next() => call(&event, context)?,
            listing = feed.next() => {
                for request in model.receive(listing?.questions) {
                    let line = if context.json {
                        json::document(DocumentKind::WatchEvent, &json!({ "event": "request", "request": request }))?
                    } else {
                        let id = short_id(&request.id);
                        format!("waits      {}: `portcullis approvals approve {id}`\n", alert::text(&request))
                    };
                    context.terminal.print(&line)?;
                }
            }
        }
    }
}

fn call(event: &LiveEvent, context: &Context) -> anyhow::Result<()> {
    let LiveEvent::Call(call) = event else { return Ok(()) };
    let line = if context.json {
        json::document(DocumentKind::WatchEvent, &json!({ "event": "call", "call": call }))?
    } else {
        call_line(call, Now::read().as_millisecond(), Style::Plain, WIDTH) + "\n"
    };
    Ok(context.terminal.print(&line)?)
}
