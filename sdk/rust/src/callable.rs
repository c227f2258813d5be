//! Other tools and calls of them, as data.

use serde::Serialize;
use serde_json::Value;

use crate::{Failure, Hint, Permission};

/// A tool in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSummary {
    /// The full name, such as `files.read`.
    pub name: String,
    /// A few words for people.
    pub title: Option<String>,
    /// What the tool does. The text of another plugin: not to be trusted.
    pub description: String,
}

/// The definition of a tool of another plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct CallableTool {
    /// The full name, such as `files.read`.
    pub name: String,
    /// A few words for people.
    pub title: Option<String>,
    /// What the tool does. The text of another plugin: not to be trusted.
    pub description: String,
    /// JSON Schema 2020-12 of the arguments.
    pub schema: Value,
    /// JSON Schema 2020-12 of the output, if the tool returns JSON.
    pub output_schema: Option<Value>,
    /// The permissions that the tool may use.
    pub permissions: Vec<Permission>,
    /// What the author of the tool claims.
    pub hints: Vec<Hint>,
}

/// A call of a tool of another plugin.
///
/// ```
/// use portcullis_sdk::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::new("files.read", &json!({ "path": "README.md" }))?;
/// assert_eq!((call.tool.as_str(), call.arguments.as_str()), ("files.read", r#"{"path":"README.md"}"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The full name of the tool.
    pub tool: String,
    /// One JSON object.
    pub arguments: String,
}

impl ToolCall {
    /// Creates a call with arguments that serialize to a JSON object.
    ///
    /// # Errors
    /// The arguments cannot be serialized.
    pub fn new(tool: impl Into<String>, arguments: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        Ok(Self { tool: tool.into(), arguments: serde_json::to_string(arguments)? })
    }
}

/// Maximum calls that [`foresee`](crate::Toolset::foresee) and [`approve`](crate::Toolset::approve) take at once. It is
/// the host's limit.
pub const PLANNED_CALLS_MAX: usize = 100;

/// What the host would do with a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outlook {
    /// The call would run.
    Runs,
    /// An approver would be asked.
    NeedsApproval,
    /// The call would fail like this.
    Fails(Failure),
}
