//! The source of each policy layer, and the host's own places that no grant may contain.

use crate::places::{HostDirectories, PolicyFile};
use crate::project_policy::GrantPlace;
use cap_std::fs::Dir;
use portcullis_policy::Layer;
use portcullis_sandbox::{Directory, PathBase};
use std::path::{Path, PathBuf};

/// The host's own places that no grant may contain, apart from the plugin directory.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    pub(crate) state: &'a HostDirectories,
    pub(crate) policies: &'a [PolicyFile],
}

impl Own<'_> {
    pub(super) fn covered_by(&self, directory: &Directory, plugins: &Dir) -> std::io::Result<Option<&'static str>> {
        if directory.overlaps(&self.state.directory)? {
            return Ok(Some("the state directory"));
        }
        if directory.overlaps(&self.state.cache)? {
            return Ok(Some("the cache directory"));
        }
        if directory.overlaps(plugins)? {
            return Ok(Some("the plugin directory"));
        }
        for policy in self.policies {
            // The policy is one file. A granted directory may be next to it, but must not contain it.
            if directory.contains(&policy.handle)? {
                return Ok(Some("the policy"));
            }
        }
        Ok(None)
    }
}

/// The source of each layer, and the base of its relative paths.
pub(crate) struct Bases {
    pub(crate) user: PathBase,
    pub(crate) user_file: PathBuf,
    pub(crate) project: PathBase,
    pub(crate) project_file: PathBuf,
    /// The places of the project's grants when its policy was found to be trusted.
    pub(crate) project_grants: Vec<GrantPlace>,
}

impl Bases {
    pub(super) fn file(&self, layer: Layer) -> &Path {
        match layer {
            Layer::Project => &self.project_file,
            Layer::BuiltIn | Layer::User => &self.user_file,
        }
    }

    pub(crate) fn of(&self, layer: Option<Layer>) -> &PathBase {
        match layer {
            Some(Layer::Project) => &self.project,
            Some(Layer::BuiltIn | Layer::User) | None => &self.user,
        }
    }
}
