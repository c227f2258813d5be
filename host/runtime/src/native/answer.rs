//! The answer of a native tool, and the reason why it has none.

use portcullis_definitions::manifest::{Failure, Output, Part, Success};
use serde_json::Value;
use std::time::Duration;

/// The answer of a native tool. The host checks it like the answer of a plugin.
///
/// ```
/// use portcullis::native::NativeAnswer;
/// use serde_json::json;
///
/// let text = NativeAnswer::text("It is noon.").title("The time");
/// let json = NativeAnswer::json(&json!({ "hour": 12 }));
/// # let _ = (text, json);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeAnswer(Success);

/// Why a native tool has no answer. The model reads the text, so it should say what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.text())]
pub struct NativeFailure(Failure);

impl NativeAnswer {
    /// Creates an answer of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Output::Text(text.into()))
    }

    /// Creates an answer of JSON. A tool with an output schema needs one that matches the schema.
    pub fn json(value: &Value) -> Self {
        Self::of(Output::Json(value.to_string()))
    }

    /// Creates an answer of several parts.
    pub fn parts(parts: Vec<Part>) -> Self {
        Self::of(Output::Parts(parts))
    }

    /// Adds a short title for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.0.title = Some(title.into());
        self
    }

    /// Adds a JSON object for the program that runs the model. The model does not see it.
    #[must_use]
    pub fn metadata(mut self, metadata: &Value) -> Self {
        self.0.metadata = Some(metadata.to_string());
        self
    }

    pub(super) fn into_success(self) -> Success {
        self.0
    }

    fn of(output: Output) -> Self {
        Self(Success { title: None, output, metadata: None })
    }
}

impl NativeFailure {
    /// Creates a failure for arguments that match the schema and are still wrong.
    pub fn invalid_arguments(text: impl Into<String>) -> Self {
        Self(Failure::InvalidArguments(text.into()))
    }

    /// Creates a failure for something that the caller may not do.
    pub fn denied(text: impl Into<String>) -> Self {
        Self(Failure::Denied(text.into()))
    }

    /// Creates a failure for something that does not work now. A retry after this time may succeed.
    pub fn unavailable(text: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self(Failure::Unavailable { message: text.into(), retry_after })
    }

    /// Creates any other failure.
    pub fn failed(text: impl Into<String>) -> Self {
        Self(Failure::Failed(text.into()))
    }

    pub(super) fn into_failure(self) -> Failure {
        self.0
    }
}
