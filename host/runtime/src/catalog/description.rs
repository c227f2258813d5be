//! Description files: `PLUGIN.TOOL.md` next to `PLUGIN.wasm` replaces the plugin's own description of the tool.
//!
//! They are part of the plugin. An invalid one refuses the plugin, and a different text makes a different definition.

use super::definition;
use super::file::{self, FileError};
use super::load_error::LoadError;
use super::placeholders::{self, PlaceholderError, Values};
use super::plugin::Plugin;
use crate::places;
use crate::text::{excess_mark, is_deceptive};
use cap_std::fs::Dir;
use portcullis_policy::{DependencyKey, LocalName, PluginName};
use portcullis_sandbox::{DependencyKind, Manifest};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The extension of description files.
const EXTENSION: &str = ".md";

/// Maximum size of a description file, in bytes, before and after its placeholders are filled in. It is four times the
/// limit of a plugin's own description. A model reads it in every turn.
pub(super) const DESCRIPTION_FILE_BYTES_MAX: usize = 16 * 1024;

/// Maximum invalid description files that a refusal lists.
const PROBLEMS_TOLD_MAX: usize = 16;

/// The key of the directory that `${workspace}` means if a plugin asks for several.
const WORKSPACE_KEY: &str = "workspace";

/// An invalid description file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the description file {file}: {fault}")]
pub struct DescriptionError {
    /// The name of the file.
    pub file: String,
    /// The problem.
    pub fault: DescriptionFault,
}

/// Why a description file is invalid.
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
    texts: BTreeMap<LocalName, Result<String, DescriptionFault>>,
    /// The hash of the texts, and of the errors of files that could not be read. Zeros if there are no files.
    pub(crate) sha256: [u8; 32],
}

/// Returns the plugin and the tool that a file of this name describes. Returns `None` for other files.
pub(crate) fn names(file: &str) -> Option<(PluginName, LocalName)> {
    let (plugin, tool) = file.strip_suffix(EXTENSION)?.split_once('.')?;
    Some((PluginName::new(plugin).ok()?, LocalName::new(tool).ok()?))
}

/// Returns the name of a tool's description file.
fn file_name(plugin: &PluginName, tool: &LocalName) -> String {
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
            digest.update(format!("{tool} {kind} {}\n{text}", text.len()));
        }
        let sha256 = if texts.is_empty() { <[u8; 32]>::default() } else { digest.finalize().into() };
        Self { texts, sha256 }
    }

    /// Returns whether there are no description files.
    pub(crate) fn is_none(&self) -> bool {
        self.sha256 == <[u8; 32]>::default()
    }

    /// Fills in each text and passes it to `put`, which returns whether the tool exists.
    fn apply(
        &self,
        plugin: &PluginName,
        tools: &str,
        values: &Values<'_>,
        mut put: impl FnMut(&LocalName, &str) -> bool,
    ) -> Result<(), LoadError> {
        let mut errors = Vec::new();
        for (tool, text) in &self.texts {
            let fault = match text.clone().and_then(|text| filled(&text, values)) {
                Ok(text) if put(tool, &text) => continue,
                Ok(_) => DescriptionFault::NoTool(tools.to_owned()),
                Err(fault) => fault,
            };
            errors.push(DescriptionError { file: file_name(plugin, tool), fault });
        }
        errors.truncate(PROBLEMS_TOLD_MAX);
        if errors.is_empty() { Ok(()) } else { Err(LoadError::Descriptions(errors)) }
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

/// Returns the text that a model reads, filled in and checked like every other description.
fn filled(text: &str, values: &Values<'_>) -> Result<String, DescriptionFault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(DescriptionFault::Empty);
    }
    let text = placeholders::fill(text, values)?;
    let hidden = |character: &char| is_deceptive(*character) && !definition::description_allows(*character);
    if let Some(character) = text.chars().find(hidden) {
        return Err(DescriptionFault::Character(character.into()));
    }
    match excess_mark(&text) {
        Some(mark) => Err(DescriptionFault::Marks(mark.into())),
        None => Ok(text),
    }
}

/// Applies the description files to the tools of a plugin that is not shared yet.
pub(crate) fn describe(plugin: &mut Plugin, working: Option<&str>) -> Result<(), LoadError> {
    if plugin.beside.is_none() {
        return Ok(());
    }
    let workspace = workspace(plugin).map(str::to_owned);
    let values = Values { workspace: workspace.as_deref().or(working), working };
    let known = known(plugin.tools.keys().map(LocalName::as_str));
    let tools = &mut plugin.tools;
    plugin.beside.apply(&plugin.name, &known, &values, |name, text| {
        // This copies a shared tool, because the plugin keeps its own description for another policy.
        let tool = tools.get_mut(name).map(Arc::make_mut);
        tool.map(|tool| tool.describe(text.to_owned())).is_some()
    })
}

/// Returns the place that the policy binds to the directory that a plugin works on.
fn workspace(plugin: &Plugin) -> Option<&str> {
    let of_kind = plugin.dependencies.iter().filter(|(_, asked)| asked.kind == DependencyKind::Directory);
    let directories: Vec<&DependencyKey> = of_kind.map(|(key, _)| key).collect();
    let named = directories.iter().find(|key| key.as_str() == WORKSPACE_KEY);
    let key = match (named, directories.as_slice()) {
        (Some(key), _) => key,
        (None, [only]) => only,
        (None, _) => return None,
    };
    plugin.grants.directory(key).map(|bound| bound.place.as_str())
}

fn known<'a>(tools: impl Iterator<Item = &'a str>) -> String {
    tools.map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
}

/// Applies the description files in a directory to a manifest, like a host without a policy: every placeholder stands
/// for the working directory. Returns the names of the files.
///
/// # Errors
/// The directory cannot be listed, or a file is invalid. The manifest may then have some of the descriptions.
pub fn describe_beside(directory: &Path, manifest: &mut Manifest) -> Result<Vec<String>, LoadError> {
    let plugin = file::checked_name(&manifest.name)?;
    let directory = places::open_directory(directory).map_err(FileError::Io)?;
    let listed = file::list(&directory, |name| names(name).is_some()).map_err(FileError::Io)?;
    let of_plugin = listed.iter().filter_map(|file| names(file)).filter(|(of, _)| *of == plugin);
    let tools: Vec<LocalName> = of_plugin.map(|(_, tool)| tool).collect();
    let working = placeholders::working_directory();
    let values = Values { workspace: working.as_deref(), working: working.as_deref() };
    let known = known(manifest.tools.iter().map(|tool| tool.name.as_str()));
    Beside::read(&directory, &plugin, &tools).apply(&plugin, &known, &values, |name, text| {
        let tool = manifest.tools.iter_mut().find(|tool| tool.name == name.as_str());
        tool.map(|tool| text.clone_into(&mut tool.description)).is_some()
    })?;
    Ok(tools.iter().map(|tool| file_name(&plugin, tool)).collect())
}
