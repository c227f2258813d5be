//! The script plugin: runs JavaScript that a model wrote. The script calls other tools, and has no other handle.
//!
//! `run` and `search` are the tools. In the order of a run: `plan` (one or two passes), `pass` (one pass over a
//! script), `source` (the text of the script), `realm` (what the script finds), `native` (its functions), `session`
//! (what they share), `toolbox` (the object `tools`), `queue` (calls that wait), `notation` (values to JSON), `reply`
//! (answers to values), `fault` (errors), `answer`. `bridge` is the only way out of a realm. `declaration` writes what
//! `search` returns.

mod run;
mod search;

mod bridge;

mod plan;

mod pass;
mod session;

mod source;

mod native;
mod realm;

mod console;
mod toolbox;

mod queue;

mod notation;
mod reply;

mod fault;

mod answer;

mod declaration;

use portcullis_sdk::prelude::*;

plugin! {
    name: "script",
    description: "Runs JavaScript that calls other tools.",
    tools: [run::run, search::search],
    dependencies: [tools "tools": "the tools that a script may call; each call is decided like a call by the model"],
}
