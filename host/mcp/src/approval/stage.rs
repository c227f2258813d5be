//! Where a call is.

use portcullis::{Question, Reply};
use rmcp::task_manager::current_timestamp;
use std::sync::Arc;

/// Where a call is.
#[derive(Clone, Debug)]
pub(crate) enum At {
    /// On its way.
    Work,
    /// A person is asked.
    Asking(Arc<Question>),
    /// It is over.
    Over(Arc<Reply>),
}

/// Where a call is, and since when.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) at: At,
    /// In the form of RFC 3339.
    pub(crate) since: String,
}

impl Stage {
    /// Where it is now.
    pub(super) fn now(at: At) -> Self {
        Self { at, since: current_timestamp() }
    }
}
