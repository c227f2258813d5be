//! The tasks of a server, and what never changes of each.

use crate::approval::{Running, Shelf};
use portcullis::Tool;
use rmcp::model::TaskStatus;
use std::sync::Arc;
use std::time::Duration;

/// The tasks of a server.
#[derive(Default)]
pub(crate) struct Tasks(pub(super) Shelf<Task>);

/// A call that became a task.
pub(super) struct Task {
    pub(super) running: Running,
    pub(super) tool: Arc<Tool>,
    pub(super) base: Base,
}

/// How often a client should look, in milliseconds: a person does not notice a second.
const POLL_MILLISECONDS: u64 = 1000;

/// What never changes of a task.
#[derive(Clone)]
pub(super) struct Base {
    created_at: String,
    pub(super) lifetime: Duration,
}

impl Base {
    /// A task from now on, and for this time.
    pub(super) fn now(lifetime: Duration) -> Self {
        Self { created_at: rmcp::task_manager::current_timestamp(), lifetime }
    }

    /// The task as the extension has it. A call is older than the task that it becomes, but a task is updated no
    /// earlier than it is created. Both times are in UTC and of one form, so they are in order as text.
    pub(super) fn task(&self, id: &str, status: TaskStatus, since: &str) -> rmcp::model::Task {
        let since = since.max(&self.created_at);
        let lifetime = u64::try_from(self.lifetime.as_millis()).unwrap_or(u64::MAX);
        rmcp::model::Task::new(id, status, self.created_at.clone(), since)
            .with_ttl_ms(lifetime)
            .with_poll_interval_ms(POLL_MILLISECONDS)
    }
}
