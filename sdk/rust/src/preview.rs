//! Previews of the files that a call would change, for the approver.

use serde::de::DeserializeOwned;

use crate::{Context, Failure};

/// A file as a call would leave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The key of the directory that the file is in.
    pub directory: String,
    /// The path relative to that directory, with `/` between names.
    pub path: String,
    /// The whole text after the call; none if the call removes the file.
    pub content: Option<String>,
}

impl FileChange {
    /// Creates the change of a file that the call creates or replaces.
    pub fn new(directory: impl Into<String>, path: impl Into<String>, content: impl Into<String>) -> Self {
        Self { directory: directory.into(), path: path.into(), content: Some(content.into()) }
    }

    /// Creates the change of a file that the call removes.
    pub fn removed(directory: impl Into<String>, path: impl Into<String>) -> Self {
        Self { directory: directory.into(), path: path.into(), content: None }
    }
}

/// A call that needs approval. Its context has only the directories of the call, read-only, and no other handle.
#[derive(Debug)]
pub struct Preview<'a> {
    tool: &'a str,
    arguments: &'a str,
    context: &'a Context,
}

impl<'a> Preview<'a> {
    pub(crate) fn new(tool: &'a str, arguments: &'a str, context: &'a Context) -> Self {
        Self { tool, arguments, context }
    }

    /// Returns the name of the tool, without the name of the plugin.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// Parses the arguments into the type that the tool takes.
    ///
    /// # Errors
    /// `InvalidArguments`: they do not match the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        crate::arguments::parse(self.arguments)
    }

    /// Returns the context of the preview, with its handles.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.context
    }
}
