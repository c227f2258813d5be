//! The way from a script to the host.

use portcullis_sdk::prelude::*;

/// What a pass over a script reaches outside its realm. Nothing else of the host is visible to a script.
pub(crate) trait Bridge {
    /// Returns the full names of the tools that a call could reach.
    fn tools(&self) -> Vec<String>;

    /// Makes the calls of a batch, and returns their answers in order.
    ///
    /// # Errors
    /// The pass must end here; the failure becomes its answer.
    fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<Result<Success, Failure>>, Failure>;
}

/// The tools that the policy binds to the call.
pub(crate) struct HostBridge<'a> {
    toolset: Toolset,
    context: &'a Context,
}

impl<'a> HostBridge<'a> {
    pub(crate) fn new(toolset: Toolset, context: &'a Context) -> Self {
        Self { toolset, context }
    }
}

impl Bridge for HostBridge<'_> {
    fn tools(&self) -> Vec<String> {
        self.toolset.list().into_iter().map(|tool| tool.name).collect()
    }

    fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<Result<Success, Failure>>, Failure> {
        self.context.check_cancelled()?;
        let answers = self.toolset.call_all(calls);
        // A tool that was cancelled with this call may have done its work. The script must not go on.
        self.context.check_cancelled()?;
        Ok(answers)
    }
}
