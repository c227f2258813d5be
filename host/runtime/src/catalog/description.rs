//! Description files: `PLUGIN.TOOL.md` next to `PLUGIN.wasm` replaces the plugin's own description of the tool.
//!
//! They are part of the plugin. An invalid one refuses the plugin, and a different text makes a different definition.

use super::beside::{Beside, DescriptionError, DescriptionFault, file_name, names};
use super::directory::working_directory;
use super::file::{self, FileError};
use super::load_error::LoadError;
use super::loader::blocking;
use super::plugin::Plugin;
use crate::places;
use crate::text::{excess_mark, is_deceptive};
use portcullis_definitions::manifest::{DependencyKind, Manifest};
use portcullis_definitions::placeholders::{self, PlaceholderValues};
use portcullis_definitions::{definition, tool};
use portcullis_policy::{DependencyKey, LocalName, PluginName};
use std::path::Path;
use std::sync::Arc;

/// Maximum invalid description files that a refusal lists.
const PROBLEMS_TOLD_MAX: usize = 16;

/// The key of the directory that `${workspace}` means if a plugin asks for several.
const WORKSPACE_KEY: &str = "workspace";

impl Beside {
    /// Fills in each text and passes it to `put`, which returns whether the tool exists.
    fn apply(
        &self,
        plugin: &PluginName,
        tools: &str,
        values: &PlaceholderValues<'_>,
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

/// Returns the text that a model reads, filled in and checked like every other description.
fn filled(text: &str, values: &PlaceholderValues<'_>) -> Result<String, DescriptionFault> {
    // Editors end a file with a line break, which is not part of the description.
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
    let values = PlaceholderValues { workspace: workspace.as_deref().or(working), working };
    let known = known(plugin.tools.keys().map(LocalName::as_str));
    let tools = &mut plugin.tools;
    plugin.beside.apply(&plugin.name, &known, &values, |name, text| {
        // This copies a shared tool, because the plugin keeps its own description for another policy.
        let tool = tools.get_mut(name).map(Arc::make_mut);
        tool.map(|tool| tool::describe(tool, text.to_owned())).is_some()
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
pub async fn describe_beside(directory: &Path, manifest: &mut Manifest) -> Result<Vec<String>, LoadError> {
    let (directory, mut described) = (directory.to_owned(), manifest.clone());
    let read = move || {
        let files = blocking_describe_beside(&directory, &mut described);
        Ok((described, files))
    };
    let (described, files) = blocking(read).await?;
    *manifest = described;
    files
}

fn blocking_describe_beside(directory: &Path, manifest: &mut Manifest) -> Result<Vec<String>, LoadError> {
    let plugin = file::checked_name(&manifest.name)?;
    let directory = places::open_directory(directory).map_err(FileError::Io)?;
    let listed = file::list(&directory, |name| names(name).is_some()).map_err(FileError::Io)?;
    let of_plugin = listed.iter().filter_map(|file| names(file)).filter(|(of, _)| *of == plugin);
    let tools: Vec<LocalName> = of_plugin.map(|(_, tool)| tool).collect();
    let working = working_directory();
    let values = PlaceholderValues { workspace: working.as_deref(), working: working.as_deref() };
    let known = known(manifest.tools.iter().map(|tool| tool.name.as_str()));
    Beside::read(&directory, &plugin, &tools).apply(&plugin, &known, &values, |name, text| {
        let tool = manifest.tools.iter_mut().find(|tool| tool.name == name.as_str());
        tool.map(|tool| text.clone_into(&mut tool.description)).is_some()
    })?;
    Ok(tools.iter().map(|tool| file_name(&plugin, tool)).collect())
}
