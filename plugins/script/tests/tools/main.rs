//! Calls the tools of the script plugin as a host does, with tools that the test plays.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod arguments;
mod bounds;
mod calls;
mod console;
mod errors;
mod plugin;
mod results;
mod search;
mod strings;
mod tampering;
mod values;

use portcullis_plugin_script::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing;
use portcullis_sdk::{CallableTool, Output, Success};

/// Returns a tool with a schema.
pub(crate) fn tool(name: &str, description: &str, schema: Value) -> CallableTool {
    CallableTool {
        name: name.to_owned(),
        title: None,
        description: description.to_owned(),
        schema,
        output_schema: None,
        permissions: Vec::new(),
        hints: Vec::new(),
    }
}

/// Returns tools with these names that take any arguments.
pub(crate) fn named(names: &[&str]) -> Vec<CallableTool> {
    names.iter().map(|name| tool(name, "Does something.", json!({ "type": "object" }))).collect()
}

/// Plays `files.read`, `files.write`, `files.read-all` and `web.fetch`.
pub(crate) fn plays(tools: impl Fn(&ToolCall) -> Result<Success, Failure> + 'static) -> testing::Context {
    let names = named(&["files.read", "files.read-all", "files.write", "web.fetch"]);
    testing::Context::new().plays_defined_tools("tools", names, tools)
}

/// Plays tools that answer with their arguments as text.
pub(crate) fn echoes() -> testing::Context {
    plays(|call| text(&call.arguments))
}

/// Returns an answer of text.
pub(crate) fn text(text: &str) -> Result<Success, Failure> {
    Ok(Success::new(Output::Text(text.to_owned())))
}

/// Runs a script that succeeds, and returns its answer.
pub(crate) fn run(code: &str, context: &testing::Context) -> String {
    match attempt(code, context) {
        Ok(success) => success.text(),
        Err(failure) => panic!("{failure}"),
    }
}

/// Runs a script that fails with an error of its own, and returns the report.
pub(crate) fn fails(code: &str, context: &testing::Context) -> String {
    match attempt(code, context) {
        Err(Failure::Failed(report)) => report,
        other => panic!("{other:?}"),
    }
}

/// Runs a script.
pub(crate) fn attempt(code: &str, context: &testing::Context) -> Result<Success, Failure> {
    testing::call(&PLUGIN, "run", json!({ "code": code }), context)
}

/// Returns the calls of tools, each as the name and the arguments.
pub(crate) fn called(context: &testing::Context) -> Vec<(String, String)> {
    context.called().into_iter().map(|call| (call.tool, call.arguments)).collect()
}

/// Returns a call as [`called`] does.
pub(crate) fn made(tool: &str, arguments: &str) -> (String, String) {
    (tool.to_owned(), arguments.to_owned())
}
