//! The plugins that come with the program: where they are, and which of them are missing in the user's directory.

use crate::init_record::InitRecord;
use crate::plugin_file::ReadPluginFile;
use crate::user_files;
use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// Where the plugins are, from the directory of the program: in an archive next to it, or as installed below a prefix.
const PLACES: [&str; 2] = ["plugins", "../share/portcullis/plugins"];

/// The extension of a plugin file.
const EXTENSION: &str = ".wasm";

/// A plugin to install.
pub(super) struct ShippedPlugin {
    pub(super) name: String,
    pub(super) target: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// The file that it replaces: an earlier version that `init` installed.
    pub(super) before: Option<Vec<u8>>,
}

/// The plugins that come with the program.
#[derive(Default)]
pub(super) struct ShippedPlugins {
    /// The plugins to install or to replace.
    pub(super) missing: Vec<ShippedPlugin>,
    /// Plugins in the user's directory that differ, and that the user put there. They stay.
    pub(super) other: Vec<String>,
    /// Plugins that are installed.
    pub(super) installed: Vec<String>,
    /// Where no plugins were found, if they were found nowhere.
    pub(super) looked_in: Vec<PathBuf>,
}

impl ShippedPlugins {
    /// Compares the plugins that come with the program with those in the user's directory.
    ///
    /// # Errors
    /// A directory or a file cannot be read.
    pub(super) fn of(program: &Path, directory: &Path, record: &InitRecord) -> anyhow::Result<Self> {
        let mut found = Self::default();
        let beside = program.parent().unwrap_or(program);
        for place in PLACES.map(|place| beside.join(place)) {
            let names = user_files::list(&place).with_context(|| place.display().to_string())?;
            let plugins: Vec<String> = names.into_iter().filter(|name| name.ends_with(EXTENSION)).collect();
            if plugins.is_empty() {
                found.looked_in.push(user_files::resolve(&place).unwrap_or(place));
                continue;
            }
            for file in plugins {
                found.add(&place.join(&file), directory.join(&file), record)?;
            }
            found.looked_in.clear();
            return Ok(found);
        }
        Ok(found)
    }

    fn add(&mut self, source: &Path, target: PathBuf, record: &InitRecord) -> anyhow::Result<()> {
        let file = ReadPluginFile::read(source).with_context(|| source.display().to_string())?;
        if let Some(problem) = file.problems().next() {
            anyhow::bail!("{}: {problem}", source.display());
        }
        let name = file.name.clone().unwrap_or_default();
        let before = user_files::read(&target).with_context(|| target.display().to_string())?;
        match &before {
            Some(bytes) if *bytes == file.bytes => self.installed.push(name),
            // `init` did not install this file, so the user put it there.
            Some(bytes) if record.plugins.get(&target) != Some(&user_files::sha256(bytes)) => self.other.push(name),
            Some(_) | None => self.missing.push(ShippedPlugin { name, target, bytes: file.bytes, before }),
        }
        Ok(())
    }
}
