//! How far a call came.

use portcullis::Reply;
use rmcp::model::{CreateTaskResult, InputRequiredResult};

/// How far a call came.
pub(crate) enum Called {
    /// It is over.
    Reply(Reply),
    /// The client's user is asked.
    InputRequired(InputRequiredResult),
    /// It goes on as a task.
    Task(CreateTaskResult),
}
