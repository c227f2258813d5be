//! Tools that take their time, report how far they have come, and end in every way.

use std::time::Duration;

use portcullis_sdk::NoArguments;
use portcullis_sdk::prelude::*;

/// Between two reports of progress.
const STEP: Duration = Duration::from_millis(50);
/// Longer than the server under test lets a client wait that can take a task.
pub(crate) const LONG: Duration = Duration::from_secs(1);

/// Reports progress three times.
#[tool(read_only)]
pub(crate) fn test_tool_with_progress(_: NoArguments, context: &Context) -> &'static str {
    for (title, fraction) in [("Begun", 0.0), ("Half done", 0.5), ("Done", 1.0)] {
        context.progress(Progress::title(title).fraction(fraction));
        std::thread::sleep(STEP);
    }
    "Reported progress three times."
}

/// Answers after a moment, on a stream that a client may come back to.
#[tool(read_only)]
pub(crate) fn test_reconnection(_: NoArguments) -> &'static str {
    std::thread::sleep(STEP);
    "Answered after a moment."
}

/// Writes into the log of the call.
#[tool(read_only)]
pub(crate) fn test_logging_tool(_: NoArguments, context: &Context) -> &'static str {
    context.log(Level::Info, "Tool execution started");
    context.log(Level::Info, "Tool execution completed");
    "Wrote into the log of the call."
}

/// Asks the operator to change the list of tools.
#[tool(requires(write))]
#[expect(clippy::disallowed_methods, reason = "a guest has no files but those it was granted")]
pub(crate) fn test_trigger_tool_change(_: NoArguments, context: &Context) -> Result<String, Failure> {
    let file = context.directory("switch")?.path().join(context.call().id);
    std::fs::write(file, "").map_err(|error| Failure::failed(error.to_string()))?;
    Ok("The list of tools is about to change.".to_owned())
}

/// Whom to greet.
#[arguments]
pub(crate) struct Greet {
    /// A name.
    name: String,
}

/// Greets somebody at once.
#[tool(read_only)]
pub(crate) fn greet(arguments: Greet) -> String {
    format!("Hello, {}!", arguments.name)
}

/// What to compute.
#[arguments]
pub(crate) struct Compute {
    /// How long it takes.
    seconds: u32,
    /// What it is called.
    #[serde(default)]
    label: String,
}

/// Takes as many seconds as it is told to.
#[tool(read_only)]
pub(crate) fn slow_compute(arguments: Compute, context: &Context) -> Result<String, Failure> {
    let steps = u64::from(arguments.seconds) * 1000 / u64::try_from(STEP.as_millis()).unwrap_or(u64::MAX);
    for _ in 0..steps {
        context.check_cancelled()?;
        std::thread::sleep(STEP);
    }
    Ok(format!("Computed {} in {} s.", arguments.label, arguments.seconds))
}

/// Fails after a while.
#[tool(read_only)]
pub(crate) fn failing_job(_: NoArguments) -> Result<String, Failure> {
    std::thread::sleep(LONG);
    Err(Failure::failed("This job always fails."))
}

/// Breaks after a while.
#[tool(read_only)]
pub(crate) fn protocol_error_job(_: NoArguments) -> String {
    std::thread::sleep(LONG);
    std::process::abort()
}
