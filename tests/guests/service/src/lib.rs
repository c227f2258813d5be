//! Opens the services it is told to, calls them, and says what came of it.
//!
//! It calls the imports directly: the errors of a handle are told apart as the contract has them.

#[cfg(target_arch = "wasm32")]
mod hand;
mod step;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use step::Step;

/// What is to be done, in this order.
#[arguments]
struct Steps {
    /// Each is done, whatever came of the one before it.
    steps: Vec<Step>,
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
