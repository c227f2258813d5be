//! The plugin directory: a path, and the directory that was found there last.
//!
//! Whoever swaps it for another is followed. Where nothing is under the path, the one that is held goes on: it may have
//! been moved aside for a moment, and where it was removed it is empty.

use super::placeholders;
use crate::places::{self, PlaceError};
use cap_std::fs::Dir;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The plugin directory.
pub(crate) struct PluginDirectory {
    path: PathBuf,
    held: Mutex<Arc<Dir>>,
    working: Option<String>,
}

impl PluginDirectory {
    /// Opens it. The path is made absolute: it stays the same when the process goes elsewhere.
    pub(crate) fn open(path: &Path) -> Result<Self, PlaceError> {
        let held = Mutex::new(Arc::new(places::open_plugins(path)?));
        let failed = |source| PlaceError::Io { what: "the plugin directory", path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        Ok(Self { path, held, working: placeholders::working_directory() })
    }

    /// The working directory when this one was opened, for descriptions to name; nothing where the system did not tell.
    pub(crate) fn working(&self) -> Option<&str> {
        self.working.as_deref()
    }

    /// The directory that is held.
    pub(crate) fn held(&self) -> Arc<Dir> {
        Arc::clone(&self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Holds another from here on.
    pub(crate) fn hold(&self, directory: Arc<Dir>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = directory;
    }

    /// The directory under the path, where it is another than the one that is held.
    ///
    /// # Errors
    /// What is there cannot be used, or must not be.
    pub(crate) fn another(&self) -> Result<Option<Arc<Dir>>, PlaceError> {
        Ok(self.found()?.filter(|(_, held)| !held).map(|(found, _)| Arc::new(found)))
    }

    /// Whether the directory that is held is still under the path.
    pub(crate) fn is_in_place(&self) -> bool {
        self.found().is_ok_and(|found| found.is_some_and(|(_, held)| held))
    }

    /// The directory under the path, if there is one, and whether it is the one that is held.
    fn found(&self) -> Result<Option<(Dir, bool)>, PlaceError> {
        let found = match places::open_plugins(&self.path) {
            Err(PlaceError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let held = self.is_held(&found).map_err(|source| self.failed(source))?;
        Ok(Some((found, held)))
    }

    /// Whether this is the directory that is held. What is held open keeps its number for itself.
    fn is_held(&self, directory: &Dir) -> io::Result<bool> {
        let (held, found) = (rustix::fs::fstat(&*self.held())?, rustix::fs::fstat(directory)?);
        Ok((held.st_dev, held.st_ino) == (found.st_dev, found.st_ino))
    }

    /// An error of the system, with the path.
    pub(crate) fn failed(&self, source: io::Error) -> PlaceError {
        PlaceError::Io { what: "the plugin directory", path: self.path.clone(), source }
    }
}
