//! What a tool knows of its call, and what it reports.

use serde::Serialize;
use serde_json::Value;

/// Who asked for the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Unique to this call.
    pub id: String,
    /// Shared by the calls of one conversation.
    pub session: String,
    /// The message that asked for the call, if the caller named it.
    pub message: Option<String>,
    /// The agent that asked, if the caller named it.
    pub agent: Option<String>,
}

/// The progress of a call. An absent field keeps its last value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// A few words for people.
    pub title: Option<String>,
    /// One JSON object for programs.
    pub metadata: Option<Value>,
    /// From 0 to 1.
    pub fraction: Option<f32>,
}

impl Progress {
    /// Creates progress with a title: a few words for people.
    pub fn title(title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..Self::default() }
    }

    /// Sets the completed fraction, from 0 to 1.
    #[must_use]
    pub fn fraction(mut self, fraction: f32) -> Self {
        self.fraction = Some(fraction);
        self
    }

    /// Sets the metadata: a struct or `json!({...})`. Drops anything other than an object.
    #[must_use]
    pub fn metadata(mut self, metadata: impl Serialize) -> Self {
        self.metadata = serde_json::to_value(&metadata).ok().filter(Value::is_object);
        self
    }
}
