//! Reads the description files next to a plugin.

use super::file::{self, FileError};
use crate::text::WithCauses;
use cap_std::fs::Dir;
use portcullis_definitions::placeholders::{DESCRIPTION_FILE_BYTES_MAX, PlaceholderError};
use portcullis_policy::{LocalName, PluginName};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The extension of description files.
const EXTENSION: &str = ".md";

/// An invalid description file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the description file {file}: {fault}")]
pub struct DescriptionError {
    /// The name of the file.
    pub file: String,
    /// The problem.
    pub fault: DescriptionFault,
}

/// The reason why a description file is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionFault {
    /// The file cannot be read, or must not be.
    #[error("{0}")]
    File(String),
    /// The file is too long.
    #[error("it is longer than {DESCRIPTION_FILE_BYTES_MAX} bytes: shorten it")]
    TooLong,
    /// The file is blank.
    #[error("it is empty: write what the tool does, or remove the file")]
    Empty,
    /// The file is not text.
    #[error("it is not UTF-8: save it as UTF-8")]
    NotText,
    /// The file contains a hidden character.
    #[error(
        "it contains the invisible or control character U+{0:04X}: remove it, and save the file with LF line ends and \
         without a byte order mark"
    )]
    Character(u32),
    /// One character has more combining marks than any writing system needs.
    #[error("it stacks too many combining marks on one character, U+{0:04X} among them: remove them")]
    Marks(u32),
    /// A placeholder cannot be filled in.
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
    /// The plugin has no tool of this name.
    #[error("the plugin has no such tool, only {0}: name the file after one of them, or remove it")]
    NoTool(String),
}

/// The description files of one plugin, as they were read.
#[derive(Clone, Default)]
pub(crate) struct Beside {
    pub(super) texts: BTreeMap<LocalName, Result<String, DescriptionFault>>,
    /// The hash of the texts, and of the errors of files that could not be read. Zeros if there are no files.
    pub(crate) sha256: [u8; 32],
}

/// Returns the plugin and the tool that a file of this name describes. Returns `None` for other files.
pub(crate) fn names(file: &str) -> Option<(PluginName, LocalName)> {
    let (plugin, tool) = file.strip_suffix(EXTENSION)?.split_once('.')?;
    Some((PluginName::new(plugin).ok()?, LocalName::new(tool).ok()?))
}

/// Returns the name of a tool's description file.
pub(super) fn file_name(plugin: &PluginName, tool: &LocalName) -> String {
    format!("{plugin}.{tool}{EXTENSION}")
}

impl Beside {
    /// Reads the description files of these tools. An error is kept until the plugin is loaded, and then refuses the
    /// plugin.
    pub(crate) fn read(directory: &Dir, plugin: &PluginName, tools: &[LocalName]) -> Self {
        let texts: BTreeMap<_, _> =
            tools.iter().map(|tool| (tool.clone(), read(directory, &file_name(plugin, tool)))).collect();
        let mut digest = Sha256::new();
        for (tool, text) in &texts {
            let (kind, text) = match text {
                Ok(text) => ("text", text.clone()),
                Err(fault) => ("fault", fault.to_string()),
            };
            // The kind and the length make the input unambiguous: no text can pass for an error or for two files.
            digest.update(format!("{tool} {kind} {}\n{text}", text.len()));
        }
        let sha256 = if texts.is_empty() { <[u8; 32]>::default() } else { digest.finalize().into() };
        Self { texts, sha256 }
    }

    /// Returns whether there are no description files.
    pub(crate) fn is_none(&self) -> bool {
        self.sha256 == <[u8; 32]>::default()
    }
}

/// Reads one file.
fn read(directory: &Dir, name: &str) -> Result<String, DescriptionFault> {
    let bytes = file::read_small(directory, name, DESCRIPTION_FILE_BYTES_MAX).map_err(|error| match error {
        FileError::TooLarge => DescriptionFault::TooLong,
        error => DescriptionFault::File(WithCauses(&error).to_string()),
    })?;
    String::from_utf8(bytes).map_err(|_| DescriptionFault::NotText)
}
