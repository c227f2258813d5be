//! What goes in and out of a guest, in words of no contract version: every version's bindings convert to these.

use portcullis_policy::{Hint, Permissions, Variation};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a plugin says of itself. Hostile text throughout until the catalog has checked it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The plugin's name.
    pub name: String,
    /// The author's version.
    pub version: String,
    /// What the plugin is for.
    pub description: String,
    /// Its tools.
    pub tools: Vec<Definition>,
    /// The handles it asks for.
    pub dependencies: Vec<Dependency>,
}

/// One tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The name within the plugin.
    pub name: String,
    /// A few words for people.
    pub title: Option<String>,
    /// What it does, for a model.
    pub description: String,
    /// JSON Schema of the arguments, as text.
    pub schema: String,
    /// JSON Schema of a JSON output, as text.
    pub output_schema: Option<String>,
    /// Rights it cannot do without.
    pub required: Permissions,
    /// Rights it can use.
    pub optional: Permissions,
    /// What the author claims.
    pub hints: Vec<Hint>,
}

/// A handle a plugin asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The name the policy binds.
    pub key: String,
    /// What is behind it.
    pub kind: DependencyKind,
    /// Whether the plugin can do without.
    pub optional: bool,
    /// Why it is asked for.
    pub reason: String,
}

/// What a handle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependencyKind {
    /// A directory.
    Directory,
    /// An HTTP client.
    Http,
    /// A key-value store.
    Store,
    /// Something the embedding application offers.
    Service,
}

/// A tool's answer.
pub type Answer = Result<Success, Failure>;

/// What a tool answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success {
    /// A few words for people.
    pub title: Option<String>,
    /// The answer.
    pub output: Output,
    /// One JSON object, unchecked.
    pub metadata: Option<String>,
}

/// The shape of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Plain text.
    Text(String),
    /// One JSON document, unchecked.
    Json(String),
    /// Several pieces.
    Parts(Vec<Part>),
}

/// A piece of an answer.
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
    /// What a person would call the file, unchecked.
    pub name: Option<String>,
    /// Such as `image/png`, unchecked.
    pub media_type: String,
    /// The bytes.
    pub data: Vec<u8>,
}

/// Why a tool could not answer. Its texts are the guest's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The arguments are wrong in a way the schema cannot say.
    InvalidArguments(String),
    /// A right was missing.
    Denied(String),
    /// Something outside did not work.
    Unavailable {
        /// What.
        message: String,
        /// After what time another try may help, where the tool knows it.
        retry_after: Option<Duration>,
    },
    /// It saw the cancellation.
    Cancelled,
    /// Anything else.
    Failed(String),
}

impl Blob {
    /// What it is, in words: its name in quotes where it has one, its media type, and its size.
    pub fn described(&self) -> String {
        let name = self.name.as_deref().map(|name| format!("\"{name}\", ")).unwrap_or_default();
        format!("{name}{}, {} bytes", self.media_type, self.data.len())
    }
}

/// A plugin's opinion of a call. Its texts are the guest's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to say.
    Clear,
    /// An approver should look.
    Ask(ReviewRequest),
    /// It should not run.
    Refuse(String),
}

/// What a plugin's review asks an approver, in the guest's words. Unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewRequest {
    /// What to look at.
    pub reason: String,
    /// What a remembered approval may cover, as the plugin proposes. Each pattern is the arguments that may differ.
    pub patterns: Vec<Vec<Variation>>,
}

impl ReviewRequest {
    /// Asks without proposing a pattern.
    pub fn new(reason: String) -> Self {
        Self { reason, patterns: Vec::new() }
    }

    /// Changes each text. A pattern with a changed text covers another call, so that nobody is offered it.
    pub(crate) fn map_texts(self, change: impl Fn(String) -> String) -> Self {
        let variation =
            |Variation { argument, within }| Variation { argument: change(argument), within: within.map(&change) };
        let pattern = |pattern: Vec<Variation>| pattern.into_iter().map(variation).collect();
        Self { reason: change(self.reason), patterns: self.patterns.into_iter().map(pattern).collect() }
    }
}

/// What a plugin computes that a call would change, or why it cannot. Its texts are the guest's words.
pub type Preview = Result<Vec<FileChange>, Failure>;

/// A file as a call would leave it, as its plugin computes. Unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The key of the directory it is in.
    pub directory: String,
    /// The path from that directory on.
    pub path: String,
    /// The whole text after the call; none where the call removes the file.
    pub content: Option<String>,
}
