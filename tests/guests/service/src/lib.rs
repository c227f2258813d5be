//! Opens the services it is told to, calls them, and says what came of it.
//!
//! It calls the imports directly: the errors of a handle are told apart as the contract has them.

#[cfg(target_arch = "wasm32")]
mod hand;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

/// What is to be done, in this order.
#[arguments]
struct Steps {
    /// Each is done, whatever came of the one before it.
    steps: Vec<Step>,
}

/// One thing to do.
#[arguments]
#[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "only a guest takes steps"))]
struct Step {
    /// The key to open. One that was opened stays open.
    key: String,
    /// Opens the key as a handle of this kind: directory, client, or service, which it is unless said.
    #[serde(default)]
    kind: Option<String>,
    /// Opens the key again, though it is open.
    #[serde(default)]
    again: bool,
    /// The method to call, if any.
    #[serde(default)]
    method: Option<String>,
    /// Its input, as the text that is passed.
    #[serde(default)]
    input: String,
    /// How often the input stands, one after the other, in a JSON string that is passed in its place.
    #[serde(default)]
    copies: u32,
    /// How often to do it; what came of the last is said.
    #[serde(default = "once")]
    times: u32,
}

fn once() -> u32 {
    1
}

/// Takes steps.
#[tool(read_only)]
fn run(arguments: Steps, context: &Context) -> Result<Value, Failure> {
    take(&arguments.steps, context)
}

#[cfg(target_arch = "wasm32")]
fn take(steps: &[Step], _: &Context) -> Result<Value, Failure> {
    let mut hand = hand::Hand::default();
    Ok(steps.iter().map(|step| hand.take(step)).collect())
}

#[cfg(not(target_arch = "wasm32"))]
fn take(steps: &[Step], _: &Context) -> Result<Value, Failure> {
    Err(Failure::failed(format!("{} steps that only a guest can take", steps.len())))
}

plugin! {
    name: "service",
    description: "Opens the services it is told to.",
    tools: [run],
    dependencies: [
        optional service "search": "to be called",
        optional service "other": "to be called as well",
        optional service "forgotten": "which no policy of the tests binds",
        optional directory "folder": "which is no service",
    ],
}
