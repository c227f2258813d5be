//! Lists the plugin files of a directory, each with its description files.

use super::beside::{self, Beside};
use super::file::{self, EXTENSION, FileError};
use cap_std::fs::Dir;
use portcullis_policy::{LocalName, PluginName};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A file of the directory.
pub(crate) struct ListedFile {
    /// The file name. Untrusted text.
    pub(crate) file: String,
    /// Its description files, or why the file belongs to no plugin.
    pub(crate) beside: Result<Beside, FileError>,
}

/// Returns whether a file is a plugin or a description file by its name. Other files are ignored.
pub(crate) fn is_ours(name: &str) -> bool {
    is_plugin(name) || beside::names(name).is_some()
}

fn is_plugin(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(EXTENSION)
}

/// Lists the plugin files of a directory and the description files that belong to no plugin, sorted.
pub(crate) fn list(directory: &Dir) -> io::Result<Vec<ListedFile>> {
    let (plugins, others): (BTreeSet<String>, BTreeSet<String>) =
        file::list(directory, is_ours)?.into_iter().partition(|name| is_plugin(name));
    let mut tools: BTreeMap<PluginName, Vec<LocalName>> = BTreeMap::new();
    let mut listed = Vec::with_capacity(plugins.len());
    for file in others {
        let Some((plugin, tool)) = beside::names(&file) else { continue };
        if plugins.contains(&format!("{plugin}{EXTENSION}")) {
            tools.entry(plugin).or_default().push(tool);
        } else {
            let alone = |_| FileError::NoPlugin { plugin: plugin.to_string() };
            let beside = Err(file::checked_name(plugin.as_str()).map_or_else(|error| error, alone));
            listed.push(ListedFile { file, beside });
        }
    }
    for file in plugins {
        let described = file::plugin_name(&file).ok().and_then(|plugin| tools.remove_entry(&plugin));
        let beside = described.map(|(plugin, tools)| Beside::read(directory, &plugin, &tools)).unwrap_or_default();
        listed.push(ListedFile { file, beside: Ok(beside) });
    }
    listed.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(listed)
}
