//! Does to its stores, settings, clocks and randomness whatever it is told to, and says what came of it.
//!
//! The tests are the attacker; this plugin is their hand inside the sandbox. It calls the interfaces of WASI directly.

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

/// Takes the steps that a test wants, one after the other.
#[tool]
fn run(arguments: Steps) -> Result<Value, Failure> {
    take(&arguments.steps)
}

/// Takes steps as a tool that declares no more than reading.
#[tool(requires(read))]
fn look(arguments: Steps) -> Result<Value, Failure> {
    take(&arguments.steps)
}

/// Opens a directory without declaring that it reads.
#[tool]
fn stray(context: &Context) -> Result<String, Failure> {
    Ok(context.directory("workspace")?.path().display().to_string())
}

#[cfg(target_arch = "wasm32")]
fn take(steps: &[Step]) -> Result<Value, Failure> {
    let mut hand = hand::Hand::default();
    Ok(steps.iter().map(|step| hand.take(step)).collect())
}

#[cfg(not(target_arch = "wasm32"))]
fn take(steps: &[Step]) -> Result<Value, Failure> {
    Err(Failure::failed(format!("{} steps that only a guest can take", steps.len())))
}

plugin! {
    name: "state-one",
    description: "Does to its state whatever it is told to.",
    tools: [run, look, stray],
    dependencies: [
        optional store "notes": "to be written to",
        optional store "session": "to be shared by one session",
        optional store "ungranted": "to be refused",
        optional directory "workspace": "to be no store",
    ],
}
