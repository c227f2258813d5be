//! Measures a call that a tool makes against the same call by a caller.
//!
//! A run of the tool that calls others costs something itself. So the same run is measured with one inner call and with
//! many, and the difference is the cost of the calls between.
//!
//! A caller gets JSON as text. A tool that passes the text on does the same. A tool that reads it spends time of its
//! own, which the other rows show.

use crate::governed::Governed;
use crate::rounds::{Block, Row, block, paired, row, through};
use crate::work::{Work, gather};
use anyhow::Result;
use portcullis::Outcome;
use serde_json::{Value, json};
use std::path::Path;

/// Inner calls of the longer run.
const INNER_CALLS: usize = 21;

/// Runs of the calling tool in one block.
const RUNS_PER_BLOCK: usize = 30;

pub(crate) fn measure(guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let directory = gather(scratch.path(), &[guests.join("json.wasm"), guests.join("relay.wasm")])?;
    let governed = Governed::composing(&directory, scratch.path())?;
    for (tool, arguments) in [("echo", json!({ "text": "hello" })), ("summarize", json!({ "orders": orders() }))] {
        let made = |unparsed| [1, INNER_CALLS].map(|times| runs(tool, &arguments, times, unparsed));
        let [[few, many], [few_read, many_read]] = [made(true), made(false)];
        let arguments = arguments.to_string();
        let outer = Work { name: tool, plugin: "json", tool, arguments, outcome: Outcome::Completed };
        let relay = |arguments: &str| {
            block(RUNS_PER_BLOCK, || governed.within(governed.call("relay.run", arguments, Outcome::Completed)))
        };
        let [outer, few, many, few_read, many_read] =
            paired([&|| through(&governed, &outer), &|| relay(&few), &|| relay(&many), &|| relay(&few_read), &|| {
                relay(&many_read)
            }])?;
        show(row(format!("{tool}, inner / outer call"), &outer, &each(&few, &many)));
        show(row(format!("{tool}, inner and parsed / outer call"), &outer, &each(&few_read, &many_read)));
    }
    Ok(())
}

/// Returns the time of each call by which the longer runs differ.
fn each(few: &[Block], many: &[Block]) -> Vec<Block> {
    let calls = (INNER_CALLS - 1) as f64;
    few.iter().zip(many).map(|(few, many)| many.less(few).divided(calls)).collect()
}

/// Returns the arguments of a run that makes one call several times.
fn runs(tool: &str, arguments: &Value, times: usize, unparsed: bool) -> String {
    let calls = json!([{ "tool": format!("json.{tool}"), "arguments": arguments }]);
    json!({ "calls": calls, "times": times, "unparsed": unparsed }).to_string()
}

fn orders() -> Vec<Value> {
    (0..20).map(|number| json!({ "item": format!("item {}", number % 5), "count": number })).collect()
}
