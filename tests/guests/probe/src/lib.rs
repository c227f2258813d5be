//! Does to a directory whatever it is told to, and says what came of it.
//!
//! The tests are the attacker; this plugin is their hand inside the sandbox. It holds the granted descriptors as the
//! host gave them and calls `wasi:filesystem` directly, since a language's own library would normalize what is sent.

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
    /// What a policy may narrow the workspace to. The steps take no notice of it.
    #[serde(default)]
    #[expect(dead_code, reason = "it is for the host to read")]
    path: Option<String>,
}

/// Does things with the right to write.
#[tool(destructive, requires(read, write))]
fn run(arguments: Steps, context: &Context) -> Result<Value, Failure> {
    take(&arguments.steps, context)
}

/// Does the same things without the right to write.
#[tool(requires(read))]
fn look(arguments: Steps, context: &Context) -> Result<Value, Failure> {
    take(&arguments.steps, context)
}

#[cfg(target_arch = "wasm32")]
fn take(steps: &[Step], context: &Context) -> Result<Value, Failure> {
    let mut hand = hand::Hand::new(context)?;
    Ok(steps.iter().map(|step| hand.take(step)).collect())
}

#[cfg(not(target_arch = "wasm32"))]
fn take(steps: &[Step], context: &Context) -> Result<Value, Failure> {
    context.directory("workspace")?;
    Err(Failure::failed(format!("{} steps that only a guest can take", steps.len())))
}

plugin! {
    name: "probe",
    description: "Does to a directory whatever it is told to.",
    tools: [run, look],
    dependencies: [
        directory "workspace": "to be attacked",
        optional directory "other": "to be attacked from the first",
    ],
}
