//! The way from a script to the host.

use portcullis_sdk::prelude::*;
use portcullis_sdk::{CallableTool, Outlook, PLANNED_CALLS_MAX, Permission};

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

/// Returns one answer for each call. The host may answer fewer, although it has made all of them.
pub(crate) fn completed(mut answers: Vec<Result<Success, Failure>>, calls: usize) -> Vec<Result<Success, Failure>> {
    answers.resize_with(calls, || Err(Failure::failed("the host did not answer this call")));
    answers
}

/// A bridge to a host, which can also plan calls.
pub(crate) trait PlanningBridge: Bridge {
    /// Returns what the host would do with each call now. Nothing runs.
    fn foresee(&self, calls: &[ToolCall]) -> Vec<Outlook>;

    /// Asks an approver about the calls together.
    fn approve(&self, calls: &[ToolCall]);

    /// Returns whether a tool can only read.
    fn only_reads(&self, tool: &str) -> bool;
}

/// Maximum calls that the host makes at once.
const CALLS_AT_ONCE_MAX: usize = 25;

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
        let mut answers = Vec::with_capacity(calls.len());
        for calls in calls.chunks(CALLS_AT_ONCE_MAX) {
            answers.extend(self.toolset.call_all(calls));
            // A tool that was cancelled with this call may have done its work. The script must not go on.
            self.context.check_cancelled()?;
        }
        Ok(answers)
    }
}

impl PlanningBridge for HostBridge<'_> {
    fn foresee(&self, calls: &[ToolCall]) -> Vec<Outlook> {
        calls.chunks(PLANNED_CALLS_MAX).flat_map(|calls| self.toolset.foresee(calls)).collect()
    }

    fn approve(&self, calls: &[ToolCall]) {
        // The host remembers what was approved, and decides each call when it is made.
        calls.chunks(PLANNED_CALLS_MAX).for_each(|calls| drop(self.toolset.approve(calls)));
    }

    fn only_reads(&self, tool: &str) -> bool {
        let only_read = |tool: CallableTool| tool.permissions.iter().all(|permission| *permission == Permission::Read);
        self.toolset.definition(tool).is_some_and(only_read)
    }
}
