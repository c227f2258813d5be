//! Calls the tools of the shell plugin as a host does, with programs that the test plays.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod exec;
mod plugin;
mod review;
mod run;

use portcullis_plugin_shell::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing::{self, Execution};
use portcullis_sdk::{Output, Success};

/// Returns a context with a program that the test plays.
pub(crate) fn plays(key: &str, execution: Execution) -> testing::Context {
    testing::Context::new().plays_program(key, move |_| Ok(execution.clone()))
}

/// Calls a tool, and returns its whole answer, its title and its metadata.
pub(crate) fn call(tool: &str, arguments: Value, context: &testing::Context) -> (String, String, Value) {
    let Success { title, output, metadata } = testing::call(&PLUGIN, tool, arguments, context).unwrap();
    let Output::Text(rest) = output else { panic!("{output:?}") };
    (context.written() + &rest, title.unwrap(), metadata.unwrap())
}

/// Reviews a call.
pub(crate) fn review(tool: &str, arguments: Value) -> Verdict {
    testing::review(&PLUGIN, tool, arguments, &testing::Context::new())
}
