//! The calls that a script has made and that wait for the next batch.

use std::collections::BTreeMap;

use boa_engine::builtins::promise::ResolvingFunctions;
use boa_engine::object::JsObject;
use portcullis_sdk::prelude::*;

/// Maximum number of calls of one batch. A script that needs more awaits some of them first.
pub(crate) const QUEUED_CALLS_MAX: usize = 256;

/// A call that waits, with the promise that the script holds.
pub(crate) struct QueuedCall {
    pub(crate) call: ToolCall,
    pub(crate) resolvers: ResolvingFunctions,
    /// The error to reject the promise with. It has the position of the call.
    pub(crate) error: JsObject,
}

/// How often a tool was called.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToolCount {
    pub(crate) calls: usize,
    pub(crate) failed: usize,
}

/// The calls of a pass that were made, by tool.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct CallLog(pub(crate) BTreeMap<String, ToolCount>);

impl CallLog {
    pub(crate) fn add(&mut self, tool: &str, failed: bool) {
        let count = self.0.entry(tool.to_owned()).or_default();
        count.calls += 1;
        count.failed += usize::from(failed);
    }

    /// Returns the counts of all tools together.
    pub(crate) fn total(&self) -> ToolCount {
        let sum = |sum: ToolCount, one: &ToolCount| ToolCount {
            calls: sum.calls + one.calls,
            failed: sum.failed + one.failed,
        };
        self.0.values().fold(ToolCount::default(), sum)
    }
}
