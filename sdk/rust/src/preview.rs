//! What a call would change in files, computed for the person who is asked about it.

use serde::de::DeserializeOwned;

use crate::{Context, Failure};

/// A file as a call would leave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The key of the directory that the file is in.
    pub directory: String,
    /// The path from that directory on, with `/` between names.
    pub path: String,
    /// The whole text after the call; none where the call removes the file.
    pub content: Option<String>,
}

impl FileChange {
    /// The call makes the file hold this text.
    pub fn new(directory: impl Into<String>, path: impl Into<String>, content: impl Into<String>) -> Self {
        Self { directory: directory.into(), path: path.into(), content: Some(content.into()) }
    }

    /// The call removes the file.
    pub fn removed(directory: impl Into<String>, path: impl Into<String>) -> Self {
        Self { directory: directory.into(), path: path.into(), content: None }
    }
}

/// A call that a person is asked about. Its context has the directories of the call, none of which can be changed, and
/// no other handle.
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

    /// The tool, without the name of the plugin.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// The arguments, as the tool takes them.
    ///
    /// # Errors
    /// `InvalidArguments`: they are not of the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        crate::arguments::parse(self.arguments)
    }

    /// The handles of the preview.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.context
    }
}
