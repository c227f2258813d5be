//! What a tool sees of its host, and says to it.

use std::hash::{BuildHasher as _, RandomState};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

/// A sleep that every clock notices.
const NAP: Duration = Duration::from_millis(5);

/// How much there is to report.
#[arguments]
pub(crate) struct Steps {
    /// How many steps.
    #[schemars(range(min = 1, max = 100))]
    steps: u16,
}

/// Reports its progress, step by step.
#[tool(read_only, idempotent)]
pub(crate) fn progress(arguments: Steps, context: &Context) -> &'static str {
    for step in 1..=arguments.steps {
        let fraction = f32::from(step) / f32::from(arguments.steps);
        context.progress(Progress::title(format!("step {step}")).fraction(fraction).metadata(json!({ "step": step })));
    }
    "done"
}

/// Says who asked for the call.
#[tool(read_only, idempotent)]
pub(crate) fn context(context: &Context) -> Value {
    let call = context.call();
    json!({ "id": call.id, "session": call.session, "message": call.message, "agent": call.agent })
}

/// What to ask.
#[arguments]
pub(crate) struct Ask {
    /// The kind of right.
    permission: Right,
    /// What it is about.
    resource: String,
    /// Why.
    reason: String,
}

/// A kind of right.
#[arguments]
#[serde(rename_all = "lowercase")]
pub(crate) enum Right {
    /// Reading.
    Read,
    /// Changing.
    Write,
    /// Running something outside the sandbox.
    Execute,
    /// Reaching the network.
    Network,
}

/// Asks whether something may be done.
#[tool(requires(write))]
pub(crate) fn ask(arguments: Ask, context: &Context) -> Result<&'static str, Failure> {
    let permission = match arguments.permission {
        Right::Read => Permission::Read,
        Right::Write => Permission::Write,
        Right::Execute => Permission::Execute,
        Right::Network => Permission::Network,
    };
    context.ask(permission, &arguments.resource, &arguments.reason)?;
    Ok("yes")
}

/// What to keep.
#[arguments]
pub(crate) struct Note {
    /// Its name in the store.
    key: String,
    /// Any JSON.
    value: Value,
}

/// Keeps a value for later calls.
#[tool(idempotent, requires(write))]
pub(crate) fn remember(arguments: Note, context: &Context) -> Result<&'static str, Failure> {
    context.store("notes")?.set_json(&arguments.key, &arguments.value)?;
    Ok("remembered")
}

/// What to look up.
#[arguments]
pub(crate) struct Key {
    /// Its name.
    key: String,
}

/// Gives back a value that was kept.
#[tool(read_only, idempotent, requires(read))]
pub(crate) fn recall(arguments: Key, context: &Context) -> Result<Value, Failure> {
    let value: Option<Value> = context.store("notes")?.get_json(&arguments.key)?;
    Ok(json!({ "value": value }))
}

/// Says what the policy sets for the plugin.
#[tool(read_only, idempotent)]
pub(crate) fn setting(arguments: Key, context: &Context) -> Value {
    json!({ "value": context.setting(&arguments.key) })
}

/// What to print.
#[arguments]
pub(crate) struct Print {
    /// The text to print.
    text: String,
}

/// Prints a text in each way there is.
#[tool(read_only, idempotent)]
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "it is what the tool is there for")]
pub(crate) fn print(arguments: Print, context: &Context) -> &'static str {
    println!("{} on stdout", arguments.text);
    eprintln!("{} on stderr", arguments.text);
    context.log(Level::Warn, &arguments.text);
    "printed"
}

/// Says what a program sees around itself: clocks, randomness, environment and arguments.
#[tool(read_only)]
pub(crate) fn surroundings() -> Result<Value, Failure> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
    let start = Instant::now();
    thread::sleep(NAP);
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let environment: Vec<String> = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    Ok(json!({
        "now": u64::try_from(now)?,
        "monotonic": start.elapsed() >= NAP,
        "random": random,
        "insecure": insecure(),
        "environment": environment,
        "arguments": std::env::args_os().skip(1).count(),
    }))
}

/// From 0 to 1, out of what the standard library seeds its hash tables with.
fn insecure() -> f64 {
    let bits = RandomState::new().hash_one(()) >> 32;
    bits as f64 / f64::from(u32::MAX)
}
