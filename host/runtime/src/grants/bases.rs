//! The source of each policy layer, and the host's own places that no plugin may change.

use super::changeable::{Changeable, changeable, changeable_policy};
use crate::places::{HostDirectories, OwnPlace, PolicyFile, open_directory, resolve};
use crate::project_policy::GrantPlace;
use portcullis_policy::Layer;
use portcullis_sandbox::{Directory, PathBase};
use std::io::ErrorKind;
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
    /// `place` is the resolved path of the directory.
    pub(super) fn covered_by(&self, directory: &Directory, place: &Path) -> std::io::Result<Option<&'static str>> {
        if directory.overlaps(&self.state.directory)? {
            return Ok(Some("the state directory"));
        }
        if let Some(outputs) = self.state.outputs_directory()
            && directory.overlaps(outputs)?
        {
            return Ok(Some("the directory of outputs"));
        }
        if directory.overlaps(&self.state.cache)? {
            return Ok(Some("the cache directory"));
        }
        self.examined_code_overlaps(directory, place)
    }

    /// Returns the cache of examined code, if the directory contains it, is in it, or would contain it if it existed.
    fn examined_code_overlaps(&self, directory: &Directory, place: &Path) -> std::io::Result<Option<&'static str>> {
        const WHAT: &str = "your cache of compiled code";
        let Some(path) = &self.state.examined_code else { return Ok(None) };
        let overlaps = match open_directory(path) {
            Ok(cache) => directory.overlaps(&cache)?,
            Err(error) if error.kind() == ErrorKind::NotFound => resolve(path)?.starts_with(place),
            // This process takes no code from what it cannot open.
            Err(_) => false,
        };
        Ok(overlaps.then_some(WHAT))
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

    /// Returns the places to which the grants of a layer must still lead. Only those of a project are trusted by place.
    pub(super) fn trusted_places(&self, layer: Option<Layer>) -> &[GrantPlace] {
        match layer {
            Some(Layer::Project) => &self.project_grants,
            Some(Layer::BuiltIn | Layer::User) | None => &[],
        }
    }
}
