//! How a call ends, where it ends in anything but an answer.

use std::hint::black_box;
use std::time::{Duration, Instant};

use portcullis_sdk::prelude::*;

/// How often the tool `wait` checks whether its call is cancelled.
const LOOK: Duration = Duration::from_millis(10);
/// How long it waits without a cancellation: longer than any test, shorter than a person's patience.
const PATIENCE: Duration = Duration::from_secs(20);
/// How much the tool `hog` takes at once, in bytes.
const GULP: usize = 1024 * 1024;

/// How to fail.
#[arguments]
pub(crate) struct Fail {
    /// The kind of failure.
    kind: Kind,
    /// What it says.
    message: String,
}

/// A kind of failure.
#[arguments]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// The arguments are wrong.
    InvalidArguments,
    /// A right was missing.
    Denied,
    /// Something outside did not work.
    Unavailable,
    /// The call was cancelled.
    Cancelled,
    /// Anything else.
    Failed,
}

/// Ends with a failure of the kind that is asked for.
#[tool(read_only, idempotent)]
pub(crate) fn fail(arguments: Fail) -> Result<String, Failure> {
    let message = arguments.message;
    Err(match arguments.kind {
        Kind::InvalidArguments => Failure::invalid(message),
        Kind::Denied => Failure::denied(message),
        Kind::Unavailable => Failure::unavailable(message),
        Kind::Cancelled => Failure::Cancelled,
        Kind::Failed => Failure::failed(message),
    })
}

/// What goes wrong.
#[arguments]
pub(crate) struct Throw {
    /// What the error says.
    message: String,
}

/// Runs into an error that it does not handle.
#[tool(read_only, idempotent)]
pub(crate) fn throw(arguments: Throw) -> String {
    // What Rust has for it is a panic. An `Err` would be a failure that the tool returns, as the tool `fail` does.
    panic!("{}", arguments.message)
}

/// Breaks off in the middle.
#[tool(read_only, idempotent)]
pub(crate) fn trap() -> String {
    panic!("this tool panics")
}

/// Waits until the call is cancelled.
#[tool(read_only, idempotent)]
pub(crate) fn wait(context: &Context) -> Result<&'static str, Failure> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if context.is_cancelled() {
            context.log(Level::Info, "the call is cancelled");
            return Err(Failure::Cancelled);
        }
        std::thread::sleep(LOOK);
    }
    Ok("not cancelled")
}

/// Never comes to an end.
#[tool(read_only, idempotent)]
pub(crate) fn spin() -> String {
    let mut turns: u64 = 0;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

/// Takes memory until there is none.
#[tool(read_only, idempotent)]
pub(crate) fn hog() -> String {
    let mut taken = Vec::new();
    loop {
        taken.push(black_box(vec![1_u8; GULP]));
    }
}

/// Calls itself until the stack ends.
#[tool(read_only, idempotent)]
pub(crate) fn recurse() -> String {
    deeper(0).to_string()
}

/// What is added after the call keeps the compiler from making a loop of it.
#[expect(unconditional_recursion, reason = "it is what the tool is there for")]
fn deeper(depth: u64) -> u64 {
    deeper(black_box(depth + 1)) + black_box(depth)
}
