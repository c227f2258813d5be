//! The result of examining a plugin file.

use portcullis::plugins::{Engine, LoadError, Loaded, Manifest};

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
}
