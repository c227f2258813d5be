//! The description files beside a plugin, as they are read.

use super::file::{self, FileError};
use super::placeholders::{DESCRIPTION_FILE_BYTES_MAX, PlaceholderError};
use cap_std::fs::Dir;
use portcullis_policy::{LocalName, PluginName};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What the name of a description file ends with.
const EXTENSION: &str = ".md";

/// A description file that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the description file {file}: {fault}")]
pub struct DescriptionError {
    /// Its name.
    pub file: String,
    /// What is wrong.
    pub fault: DescriptionFault,
}

/// What is wrong with a description file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionFault {
    /// It cannot be read, or must not be.
    #[error("{0}")]
    File(String),
    /// Too many bytes.
    #[error("it is longer than {DESCRIPTION_FILE_BYTES_MAX} bytes: shorten it")]
    TooLong,
    /// Nothing but blanks.
    #[error("it is empty: write what the tool does, or take the file away")]
    Empty,
    /// It is no text.
    #[error("it is not UTF-8: save it as that")]
    NotText,
    /// It hides something.
    #[error(
        "it holds the invisible or control character U+{0:04X}: take it out, and save the file with LF line ends and \
         without a byte order mark"
    )]
    Character(u32),
    /// It has more combining marks on one character than a writing system needs.
    #[error("it stacks too many combining marks on one character, U+{0:04X} among them: take them out")]
    Marks(u32),
    /// It cannot be filled in.
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
    /// It is of no tool.
    #[error("the plugin has no such tool, it has {0}: name the file after one of them, or take it away")]
    NoTool(String),
}

/// The description files of one plugin, as they were read.
#[derive(Clone, Default)]
pub(crate) struct Beside {
    pub(super) texts: BTreeMap<LocalName, Result<String, DescriptionFault>>,
    /// Of all that was read, and of why the rest was not; zeros where there are none.
    pub(crate) sha256: [u8; 32],
}

/// The tool, and its plugin, that a file of this name describes; nothing for every other file.
pub(crate) fn names(file: &str) -> Option<(PluginName, LocalName)> {
    let (plugin, tool) = file.strip_suffix(EXTENSION)?.split_once('.')?;
    Some((PluginName::new(plugin).ok()?, LocalName::new(tool).ok()?))
}

/// The description file of a tool.
pub(super) fn file_name(plugin: &PluginName, tool: &LocalName) -> String {
    format!("{plugin}.{tool}{EXTENSION}")
}

impl Beside {
    /// Reads the description files of these tools of a plugin. What is wrong with one is kept until the plugin is
    /// loaded, and then refuses it.
    pub(crate) fn read(directory: &Dir, plugin: &PluginName, tools: &[LocalName]) -> Self {
        let texts: BTreeMap<_, _> =
            tools.iter().map(|tool| (tool.clone(), read(directory, &file_name(plugin, tool)))).collect();
        let mut digest = Sha256::new();
        for (tool, text) in &texts {
            let (kind, text) = match text {
                Ok(text) => ("text", text.clone()),
                Err(fault) => ("fault", fault.to_string()),
            };
            digest.update(format!("{tool} {kind} {}\n{text}", text.len()));
        }
        let sha256 = if texts.is_empty() { <[u8; 32]>::default() } else { digest.finalize().into() };
        Self { texts, sha256 }
    }

    /// Whether there are none.
    pub(crate) fn is_none(&self) -> bool {
        self.sha256 == <[u8; 32]>::default()
    }
}

/// Reads one file.
fn read(directory: &Dir, name: &str) -> Result<String, DescriptionFault> {
    let bytes = file::read_small(directory, name, DESCRIPTION_FILE_BYTES_MAX).map_err(|error| match error {
        FileError::TooLarge => DescriptionFault::TooLong,
        error => DescriptionFault::File(error.to_string()),
    })?;
    String::from_utf8(bytes).map_err(|_| DescriptionFault::NotText)
}
