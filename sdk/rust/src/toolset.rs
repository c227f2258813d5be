//! Other tools that a policy lets this plugin call.

use serde::Serialize;

#[cfg(doc)]
use crate::PLANNED_CALLS_MAX;
use crate::host;
use crate::{CallableTool, Failure, Outlook, Success, ToolCall, ToolSummary};

/// The tools that the policy binds to a key. Each call takes all the steps of a call by a caller: the host checks,
/// decides, limits and records it, and asks an approver where the policy says so.
///
/// ```
/// use portcullis_sdk::prelude::*;
///
/// /// Counts the lines of the readme.
/// #[tool]
/// fn lines(context: &Context) -> Result<String, Failure> {
///     let read = context.tools("tools")?.call("files.read", &json!({ "path": "README.md" }))?;
///     Ok(read.text().lines().count().to_string())
/// }
///
/// plugin! {
///     name: "counter",
///     description: "Counts lines.",
///     tools: [lines],
///     dependencies: [tools "tools": "reads the file"],
/// }
/// # fn main() {
/// # use portcullis_sdk::{Output, testing::{self, call}};
/// let context = testing::Context::new().plays_tools("tools", |call| {
///     assert_eq!(call.tool, "files.read");
///     Ok(Success::new(Output::Text("a\nb\n".to_owned())))
/// });
/// let counted = call(&PLUGIN, "lines", json!({}), &context).unwrap();
/// assert_eq!(counted.text(), "2");
/// # }
/// ```
#[derive(Debug)]
pub struct Toolset {
    handle: host::Toolset,
}

impl Toolset {
    pub(crate) fn new(handle: host::Toolset) -> Self {
        Self { handle }
    }

    /// Returns the tools that a call could reach now, sorted by name.
    #[must_use]
    pub fn list(&self) -> Vec<ToolSummary> {
        self.handle.list()
    }

    /// Returns the tools that fit a need best, at most `limit`, the best first. `query` describes the need in words.
    #[must_use]
    pub fn search(&self, query: &str, limit: u32) -> Vec<ToolSummary> {
        self.handle.search(query, limit)
    }

    /// Returns the definition of a tool, or `None` if no call could reach it.
    #[must_use]
    pub fn definition(&self, tool: &str) -> Option<CallableTool> {
        self.handle.definition(tool)
    }

    /// Calls a tool and waits for its answer. The time of the tool counts for this call. The time in which it waits for
    /// an approver or for its turn does not.
    ///
    /// # Errors
    /// The host refused the call, or the tool failed. The text is for the model.
    pub fn call(&self, tool: &str, arguments: &(impl Serialize + ?Sized)) -> Result<Success, Failure> {
        self.handle.call(&ToolCall::new(tool, arguments)?)
    }

    /// Calls a tool like [`call`](Self::call), and returns its output as text, without parsing JSON. For a tool that
    /// passes answers on. Of parts, it returns the texts.
    ///
    /// # Errors
    /// The same as those of [`call`](Self::call).
    pub fn call_for_text(&self, call: &ToolCall) -> Result<String, Failure> {
        self.handle.call_for_text(call)
    }

    /// Calls several tools at the same time, and returns their answers in order. A tool that may change something runs
    /// alone.
    #[must_use]
    pub fn call_all(&self, calls: &[ToolCall]) -> Vec<Result<Success, Failure>> {
        self.handle.call_all(calls)
    }

    /// Returns what the host would do with each call now, at most [`PLANNED_CALLS_MAX`]. Nothing runs, and no approver
    /// is asked.
    #[must_use]
    pub fn foresee(&self, calls: &[ToolCall]) -> Vec<Outlook> {
        self.handle.foresee(calls)
    }

    /// Asks an approver about calls together before they are made, at most [`PLANNED_CALLS_MAX`]. The approver reads
    /// the exact arguments of each, and approves all, some or none. Returns for each call whether it can now be made
    /// without a request of its own.
    ///
    /// Each approval counts once, for exactly these arguments, until this call ends. A call that the approver did not
    /// approve fails when it is made. The host does not ask about a single call, or where no approver can answer now.
    #[must_use]
    pub fn approve(&self, calls: &[ToolCall]) -> Vec<bool> {
        self.handle.approve(calls)
    }
}
