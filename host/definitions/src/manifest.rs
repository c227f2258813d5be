//! The types that go in and out of a guest, independent of the contract version. The bindings of every version convert
//! to them.

pub use portcullis_policy::DependencyKind;

use portcullis_policy::{Hint, Permissions, Variation};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A plugin's description of itself. All text is untrusted until the catalog has checked it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version, as its author numbers it.
    pub version: String,
    /// The purpose of the plugin.
    pub description: String,
    /// The plugin's tools.
    pub tools: Vec<Definition>,
    /// The handles that the plugin asks for.
    pub dependencies: Vec<Dependency>,
}

/// The definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The name within the plugin.
    pub name: String,
    /// A short title for people.
    pub title: Option<String>,
    /// What the tool does, for a model.
    pub description: String,
    /// JSON Schema of the arguments, as text.
    pub schema: String,
    /// JSON Schema of a JSON output, as text.
    pub output_schema: Option<String>,
    /// The permissions that the tool needs.
    pub required: Permissions,
    /// The permissions that the tool can use.
    pub optional: Permissions,
    /// The author's claims about the tool.
    pub hints: Vec<Hint>,
}

/// The tools that a plugin makes from its settings and its directories, or why it cannot. Untrusted, unchecked.
pub type Generated = Result<Vec<Definition>, String>;

/// The caller that tools are prepared for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCaller {
    /// The session.
    pub session: String,
    /// The principal.
    pub principal: String,
    /// The name that the client gives itself. Nothing proves it.
    pub client: Option<String>,
    /// The name of the model.
    pub model: Option<String>,
    /// Whether a schedule or a program started the session.
    pub automated: bool,
}

/// A tool that a caller is not offered, or of which it is offered less. Untrusted, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preparation {
    /// The tool's name within the plugin.
    pub tool: String,
    /// What the caller is offered of it.
    pub availability: Availability,
}

/// What a caller is offered of a tool that it is not offered whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Nothing, for a reason.
    Hidden(String),
    /// A part of what it can do.
    Narrowed(Narrowing),
}

/// What replaces a part of a tool's definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrowing {
    /// The new description.
    pub description: Option<String>,
    /// A schema that arguments must match besides the tool's own.
    pub schema: Option<String>,
}

/// A handle that a plugin asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The key that the policy binds.
    pub key: String,
    /// The kind of the handle.
    pub kind: DependencyKind,
    /// Whether the plugin also works without the handle.
    pub optional: bool,
    /// Why the plugin asks for it.
    pub reason: String,
}

/// A tool's answer.
pub type Answer = Result<Success, Failure>;

/// The answer of a tool that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success {
    /// A short title for people.
    pub title: Option<String>,
    /// The output.
    pub output: Output,
    /// A JSON object, unchecked.
    pub metadata: Option<String>,
}

/// The output of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Plain text.
    Text(String),
    /// A JSON document, unchecked.
    Json(String),
    /// Several parts.
    Parts(Vec<Part>),
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// An image.
    Image(Blob),
    /// A file.
    File(Blob),
}

/// Bytes and their media type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The file name for people, unchecked.
    pub name: Option<String>,
    /// The media type, such as `image/png`, unchecked.
    pub media_type: String,
    /// The bytes, unchecked.
    pub data: Vec<u8>,
    /// Whether the host keeps it, and passes on only what it is and a reference.
    pub is_kept: bool,
}

/// Why a tool could not answer. Its texts are untrusted text of the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The arguments are wrong in a way that the schema cannot express.
    InvalidArguments(String),
    /// A permission is missing.
    Denied(String),
    /// Something outside the plugin did not work.
    Unavailable {
        /// What did not work.
        message: String,
        /// The time after which a retry may help, if the tool knows it.
        retry_after: Option<Duration>,
    },
    /// The tool saw the cancellation and ended.
    Cancelled,
    /// Any other error.
    Failed(String),
}

impl Output {
    /// Returns the length of everything in it, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Json(text) => text.len(),
            Self::Parts(parts) => parts.iter().map(Part::bytes).sum(),
        }
    }
}

impl Part {
    /// Returns the length of everything in it, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Image(blob) | Self::File(blob) => {
                blob.name.as_ref().map_or(0, String::len) + blob.media_type.len() + blob.data.len()
            }
        }
    }
}

impl Failure {
    /// Returns what went wrong. Untrusted text of the guest.
    pub fn text(&self) -> &str {
        match self {
            Self::InvalidArguments(text) | Self::Denied(text) | Self::Failed(text) => text,
            Self::Unavailable { message, .. } => message,
            Self::Cancelled => "it was cancelled",
        }
    }
}

impl Blob {
    /// Returns a description: the name in quotes, if there is one, the media type, and the size.
    pub fn described(&self) -> String {
        let name = self.name.as_deref().map(|name| format!("\"{name}\", ")).unwrap_or_default();
        format!("{name}{}, {} bytes", self.media_type, self.data.len())
    }
}

/// A plugin's review of a call. Its texts are untrusted text of the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No objection.
    Clear,
    /// The call needs approval.
    Ask(ReviewRequest),
    /// The call should not run.
    Refuse(String),
}

/// The approval request of a plugin's review. Untrusted text of the guest, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewRequest {
    /// What the approver should look at.
    pub reason: String,
    /// What a remembered approval may cover, as the plugin proposes. Each pattern is the arguments that may differ.
    pub patterns: Vec<Vec<Variation>>,
}

impl ReviewRequest {
    /// Creates a request without patterns.
    pub fn new(reason: String) -> Self {
        Self { reason, patterns: Vec::new() }
    }

    /// Changes each text. A pattern with a changed text no longer covers the call, so it is not offered to the
    /// approver.
    pub fn map_texts(self, change: impl Fn(String) -> String) -> Self {
        let variation =
            |Variation { argument, within }| Variation { argument: change(argument), within: within.map(&change) };
        let pattern = |pattern: Vec<Variation>| pattern.into_iter().map(variation).collect();
        Self { reason: change(self.reason), patterns: self.patterns.into_iter().map(pattern).collect() }
    }
}

/// What a call would change, as its plugin computes, or why the plugin cannot. Its texts are untrusted text of the
/// guest.
pub type Preview = Result<Vec<FileChange>, Failure>;

/// A file after a call, as its plugin computes. Unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The key of the file's directory.
    pub directory: String,
    /// The path below that directory.
    pub path: String,
    /// The whole text after the call, or `None` if the call removes the file.
    pub content: Option<String>,
}
