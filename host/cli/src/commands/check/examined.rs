//! The result of examining a plugin file.

use crate::context::Context;
use crate::opening;
use crate::plugin_file::ReadPluginFile;
use portcullis::plugins::{DefinitionError, DescriptionFault, Engine, FileError, LoadError, Loaded, Manifest};
use portcullis::policy::PluginName;
use std::path::Path;

/// A stand-in name for a file whose own name is invalid, so that the rest of it can be checked.
const NAME_LENT: &str = "unnamed";

/// The result of examining a file.
pub(in crate::commands) struct Examined {
    /// The plugin's manifest, with the description files next to it. `None` if there is no valid manifest.
    pub(in crate::commands) manifest: Option<Manifest>,
    /// The description files next to it.
    pub(super) descriptions: Vec<String>,
    /// Why a host would refuse it.
    pub(in crate::commands) problems: Vec<LoadError>,
    /// The plugin, and the engine that can run it.
    pub(super) loaded: Option<(Engine, Loaded)>,
}

impl Examined {
    pub(super) fn refused(problem: LoadError) -> Self {
        Self { manifest: None, descriptions: Vec::new(), problems: vec![problem], loaded: None }
    }

    /// Loads a file up to its description, and collects the problems.
    ///
    /// # Errors
    /// The engine cannot start.
    pub(super) async fn load(file: &ReadPluginFile, context: &Context) -> anyhow::Result<Self> {
        let plain = plain_name(file);
        let mut problems: Vec<LoadError> = Vec::new();
        if plain.is_none() {
            problems.push(FileError::Name.into());
        }
        problems.extend(file.problems().map(LoadError::from));
        let name = plain.as_ref().map_or(NAME_LENT, PluginName::as_str);
        let (engine, opened) = opening::load(context, name, &file.bytes).await?;
        let mut loaded = None;
        match opened {
            Ok(opened) => loaded = Some((engine, opened)),
            Err(LoadError::Definition(found)) => {
                // The manifest need not match a stand-in name.
                let lent =
                    |problem: &DefinitionError| plain.is_none() && matches!(problem, DefinitionError::OtherName { .. });
                let found = found.into_iter().filter(|problem| !lent(problem));
                problems.extend(found.map(|problem| LoadError::Definition(vec![problem])));
            }
            Err(problem) => problems.push(problem),
        }
        let manifest = loaded.as_ref().map(|(_, loaded)| loaded.manifest.clone());
        Ok(Self { manifest, descriptions: Vec::new(), problems, loaded })
    }

    /// Applies the description files next to the file. Unless all tools are known, a description of an unknown tool is
    /// no problem.
    pub(super) async fn describe(&mut self, path: &Path, file: &ReadPluginFile, are_known: bool) {
        // The files are found by the name of the plugin, which a stand-in is not.
        let (Some(manifest), Some(_)) = (&mut self.manifest, plain_name(file)) else { return };
        match portcullis::plugins::describe_beside(directory_of(path), manifest).await {
            Ok(files) => self.descriptions = files,
            Err(LoadError::Descriptions(mut found)) => {
                found.retain(|problem| are_known || !matches!(problem.fault, DescriptionFault::NoTool(_)));
                self.problems.extend(found.into_iter().map(|problem| LoadError::Descriptions(vec![problem])));
            }
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// Returns the name of the plugin in a file, if it is a valid one.
pub(super) fn plain_name(file: &ReadPluginFile) -> Option<PluginName> {
    PluginName::new(file.name.as_deref()?).ok()
}

/// Returns the directory that contains a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
