//! The source of each policy layer, and the host's own places that no plugin may change.

use super::changeable::{Changeable, changeable, changeable_policy};
use crate::places::{HostDirectories, OwnPlace, PolicyFile};
use crate::project_policy::GrantPlace;
use portcullis_policy::Layer;
use portcullis_sandbox::{Directory, PathBase};
use std::path::{Path, PathBuf};

/// The host's own places. No grant may contain the state, and none may let a plugin change the others.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    pub(crate) state: &'a HostDirectories,
    pub(crate) plugins: &'a [OwnPlace],
    pub(crate) policies: &'a [PolicyFile],
    pub(crate) policy_directories: &'a [OwnPlace],
}

impl Own<'_> {
    /// Returns the place that no grant may contain, whatever its access, if the directory contains one.
    pub(super) fn covered_by(&self, directory: &Directory) -> std::io::Result<Option<&'static str>> {
        if directory.overlaps(&self.state.directory)? {
            return Ok(Some("the state directory"));
        }
        if let Some(outputs) = self.state.outputs_directory()
            && directory.overlaps(outputs)?
        {
            return Ok(Some("the directory of outputs"));
        }
        let covers_cache = directory.overlaps(&self.state.cache)?;
        Ok(covers_cache.then_some("the cache directory"))
    }

    /// Returns the first place that a plugin with this directory could change. `place` is the resolved path of the
    /// directory.
    pub(super) fn changeable_by(&self, directory: &Directory, place: &Path) -> std::io::Result<Option<Changeable>> {
        for own in self.plugins.iter().chain(self.policy_directories) {
            if let Some(found) = changeable(directory, place, own)? {
                return Ok(Some(found));
            }
        }
        for policy in self.policies {
            if let Some(found) = changeable_policy(directory, place, policy)? {
                return Ok(Some(found));
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
