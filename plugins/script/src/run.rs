//! `run`: runs a script.

use portcullis_sdk::prelude::*;

use crate::answer;
use crate::bridge::HostBridge;
use crate::plan;

#[arguments]
pub(crate) struct Run {
    /// The script, in JavaScript. `await` and `return` work at the top level. The value of the script is what it
    /// returns, or its last expression.
    #[schemars(length(min = 1, max = 100_000))]
    code: String,
}

/// Runs JavaScript that calls tools. Use it to make many calls, or to filter large results, in one step. Call
/// `script.search` first: it returns the declarations of the tools. Then write, for example,
/// `const text = await tools.files.read({ path: "a.txt" }); text.length`. Each tool takes one object and returns a
/// promise. Use `await Promise.all([...])` to make several calls at the same time. Results stay in the script: you see
/// only `console.log` and the final value, so return what you need and keep it short. A call that is refused or fails
/// throws an `Error`; its `name` is `Denied`, `InvalidArguments`, `Unavailable`, `Cancelled` or `Failed`. Do not look
/// for a workaround for a refusal. There is no network, no file system, no timer, no `import` and no `eval`.
#[tool(destructive, open_world, title = "Run a script")]
pub(crate) fn run(arguments: Run, context: &Context) -> Result<Success<String>, Failure> {
    let bridge = HostBridge::new(context.tools("tools")?, context);
    answer::of(plan::run(&arguments.code, &bridge))
}
