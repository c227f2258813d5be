//! The tasks of a server, and the properties of a task that never change.

use crate::approval::{RunningCall, TimedShelf};
use portcullis::Timestamp;
use portcullis::plugins::Tool;
use portcullis::shared_calls::SharedCall;
use rmcp::model::TaskStatus;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The tasks of a server.
#[derive(Default)]
pub(crate) struct Tasks(pub(super) TimedShelf<Task>);

/// A call that became a task.
pub(super) struct Task {
    pub(super) running: RunningCall,
    pub(super) tool: Arc<Tool>,
    pub(super) base: Base,
}

/// Recommended polling interval, in milliseconds. A person does not notice a delay of a second.
const POLL_MILLISECONDS: u64 = 1000;

/// The properties of a task that never change.
#[derive(Clone)]
pub(super) struct Base {
    created_at: Timestamp,
    pub(super) lifetime: Duration,
}

impl Base {
    /// Creates a task that begins now and has this lifetime.
    pub(super) fn now(lifetime: Duration) -> Self {
        Self { created_at: SystemTime::now().into(), lifetime }
    }

    /// Returns the properties of a task that may run on another host.
    pub(super) fn of(call: &SharedCall) -> Self {
        Self { created_at: call.begun_at, lifetime: call.lifetime }
    }

    /// Returns the task in the form of the extension. A call is older than its task, but the task's update time must
    /// not be before its creation.
    pub(super) fn task(&self, id: &str, status: TaskStatus, since: Timestamp) -> rmcp::model::Task {
        let (created_at, since) = (self.created_at.to_string(), since.max(self.created_at).to_string());
        let lifetime = u64::try_from(self.lifetime.as_millis()).unwrap_or(u64::MAX);
        rmcp::model::Task::new(id, status, created_at, since)
            .with_ttl_ms(lifetime)
            .with_poll_interval_ms(POLL_MILLISECONDS)
    }
}
