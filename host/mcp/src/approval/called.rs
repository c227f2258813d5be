//! The response to a `tools/call` request.

use portcullis::Reply;
use rmcp::model::{CreateTaskResult, InputRequiredResult};

/// The response to a `tools/call` request.
pub(crate) enum Called {
    /// The call is over.
    Reply(Reply),
    /// The client must ask its user and retry the request.
    InputRequired(InputRequiredResult),
    /// The call continues as a task.
    Task(CreateTaskResult),
}
