//! The plugin directory: a path, and the directory that was last found there.
//!
//! If another directory is put at the path, the host switches to it. If nothing is at the path, the host keeps the
//! directory that it holds, because it may have been moved away for a moment. If it was removed, it is empty.

use crate::places::{self, PlaceError};
use cap_std::fs::Dir;
use portcullis_policy::recovery::RecoverMutex;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The plugin directory.
pub(crate) struct PluginDirectory {
    path: PathBuf,
    held: Mutex<Arc<Dir>>,
    working: Option<String>,
}

impl PluginDirectory {
    /// Opens the directory. Makes the path absolute, so that it stays valid if the process changes its working
    /// directory.
    pub(crate) fn open(path: &Path) -> Result<Self, PlaceError> {
        let held = Mutex::new(Arc::new(places::open_plugins(path)?));
        let failed = |source| PlaceError::Io { what: "the plugin directory", path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        Ok(Self { path, held, working: working_directory() })
    }

    /// Returns the process's working directory from when this was opened, for use in descriptions. Returns `None` if
    /// the system did not tell.
    pub(crate) fn working(&self) -> Option<&str> {
        self.working.as_deref()
    }

    /// Returns the directory that is held.
    pub(crate) fn held(&self) -> Arc<Dir> {
        Arc::clone(&self.held.lock_recovered())
    }

    /// Holds another directory from now on.
    pub(crate) fn hold(&self, directory: Arc<Dir>) {
        *self.held.lock_recovered() = directory;
    }

    /// Returns the directory at the path, if it is not the one that is held.
    ///
    /// # Errors
    /// The directory at the path cannot be used, or must not be.
    pub(crate) fn another(&self) -> Result<Option<Arc<Dir>>, PlaceError> {
        Ok(self.found()?.filter(|(_, held)| !held).map(|(found, _)| Arc::new(found)))
    }

    /// Returns whether the directory that is held is still at the path. Only the watch on it asks.
    #[cfg(feature = "watch")]
    pub(crate) fn is_in_place(&self) -> bool {
        self.found().is_ok_and(|found| found.is_some_and(|(_, held)| held))
    }

    /// Returns the directory at the path, if there is one, and whether it is the one that is held.
    fn found(&self) -> Result<Option<(Dir, bool)>, PlaceError> {
        let found = match places::open_plugins(&self.path) {
            Err(PlaceError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let held = self.is_held(&found).map_err(|source| self.failed(source))?;
        Ok(Some((found, held)))
    }

    /// Returns whether this is the directory that is held. The system cannot reuse the inode number of an open
    /// directory.
    fn is_held(&self, directory: &Dir) -> io::Result<bool> {
        let (held, found) = (rustix::fs::fstat(&*self.held())?, rustix::fs::fstat(directory)?);
        Ok((held.st_dev, held.st_ino) == (found.st_dev, found.st_ino))
    }

    /// Adds the path to a system error.
    pub(crate) fn failed(&self, source: io::Error) -> PlaceError {
        PlaceError::Io { what: "the plugin directory", path: self.path.clone(), source }
    }
}

/// Returns the working directory of this process, for use in descriptions. Returns `None` if the system does not tell.
#[expect(clippy::disallowed_methods, reason = "a name for descriptions, not a way to a handle")]
pub(super) fn working_directory() -> Option<String> {
    std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned())
}
