//! What a look at a file found.

use portcullis::{Engine, LoadError, Loaded, Manifest};

/// What a look at a file found.
pub(in crate::commands) struct Examined {
    /// What the plugin says of itself, with the descriptions of files beside it, where it came to that and would be
    /// accepted under its own name.
    pub(in crate::commands) manifest: Option<Manifest>,
    /// The description files beside it.
    pub(super) descriptions: Vec<String>,
    /// Why a host would refuse it.
    pub(in crate::commands) problems: Vec<LoadError>,
    /// The plugin, and what it can be run with.
    pub(super) loaded: Option<(Engine, Loaded)>,
}

impl Examined {
    pub(super) fn refused(problem: LoadError) -> Self {
        Self { manifest: None, descriptions: Vec::new(), problems: vec![problem], loaded: None }
    }
}
