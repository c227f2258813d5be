//! What a client can see of a task, wherever its call runs.

use super::kept::{Base, Task};
use crate::approval::CallStage;
use crate::server::Server;
use portcullis::plugins::Tool;
use portcullis::shared_calls::SharedCall;
use std::sync::Arc;

/// What a client can see of a task.
pub(super) struct TaskView {
    pub(super) stage: CallStage,
    /// The tool of the call. `None` if this host has no such tool any more.
    pub(super) tool: Option<Arc<Tool>>,
    pub(super) base: Base,
}

impl TaskView {
    /// Returns the view of a task of this process.
    pub(super) fn of(task: &Task) -> Self {
        Self { stage: task.running.stage(), tool: Some(Arc::clone(&task.tool)), base: task.base.clone() }
    }

    /// Returns the view of a task that may run on another host.
    pub(super) fn of_shared(server: &Server, call: &SharedCall) -> Self {
        let tool = server.listing().find(&call.tool).map(|listed| Arc::clone(&listed.tool));
        Self { stage: CallStage::of(call), tool, base: Base::of(call) }
    }
}
