//! The plugin directories: their paths, and the directories that were last found there.
//!
//! If another directory is put at a path, the host switches to it. If nothing is at the path, the host keeps the
//! directory that it holds, because it may have been moved away for a moment. If it was removed, it is empty. An
//! optional directory that does not exist when the host opens is used once it appears.

use crate::places::{self, OwnPlace, PlaceError};
use cap_std::fs::Dir;
use portcullis_policy::recovery::RecoverMutex;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What a plugin directory is called in messages.
const WHAT: &str = "the plugin directory";

/// A plugin directory that an embedder names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPluginDirectory {
    pub(crate) path: PathBuf,
    /// Whether the host opens only if it exists.
    pub(crate) required: bool,
}

/// The plugin directories of a host. If two have a plugin of the same name, the earlier directory wins.
pub(crate) struct PluginDirectories {
    directories: Mutex<Arc<[OwnPlace]>>,
    working: Option<String>,
}

impl PluginDirectories {
    /// Opens the directories. Makes the paths absolute, so that they stay valid if the process changes its working
    /// directory.
    pub(crate) fn open(named: &[NamedPluginDirectory]) -> Result<Self, PlaceError> {
        let mut opened: Vec<OwnPlace> = Vec::new();
        for NamedPluginDirectory { path, required } in named {
            let failed = |source| PlaceError::Io { what: WHAT, path: path.clone(), source };
            let directory = match places::open_plugins(path) {
                Err(PlaceError::Io { source, .. }) if !required && source.kind() == io::ErrorKind::NotFound => None,
                found => Some(Arc::new(found?)),
            };
            let absolute = std::path::absolute(path).map_err(failed)?.into();
            let place = OwnPlace { what: WHAT, written: path.as_path().into(), path: absolute, directory };
            // One directory under two names would otherwise have each plugin twice.
            let known = opened.iter().map(|known| is_same(known.directory.as_deref(), place.directory.as_deref()));
            if !known.collect::<io::Result<Vec<bool>>>().map_err(failed)?.contains(&true) {
                opened.push(place);
            }
        }
        Ok(Self { directories: Mutex::new(opened.into()), working: working_directory() })
    }

    /// Returns the process's working directory from when this was opened, for use in descriptions. Returns `None` if
    /// the system did not tell.
    pub(crate) fn working(&self) -> Option<&str> {
        self.working.as_deref()
    }

    /// Returns the directories that are held, in the order of their precedence.
    pub(crate) fn held(&self) -> Arc<[OwnPlace]> {
        Arc::clone(&self.directories.lock_recovered())
    }

    /// Holds other directories from now on.
    pub(crate) fn hold(&self, directories: Arc<[OwnPlace]>) {
        *self.directories.lock_recovered() = directories;
    }

    /// Returns the directories with those that are at their paths now, if one of them is not the one that is held.
    ///
    /// # Errors
    /// A directory at one of the paths cannot be used, or must not be.
    pub(crate) fn others(&self) -> Result<Option<Arc<[OwnPlace]>>, PlaceError> {
        let (mut next, mut changed) = (self.held().to_vec(), false);
        for place in &mut next {
            if let Some((found, false)) = found(place)? {
                place.directory = Some(Arc::new(found));
                changed = true;
            }
        }
        Ok(changed.then(|| next.into()))
    }

    /// Returns whether the directories that are held are still at their paths. Only the watch on them asks.
    #[cfg(feature = "watch")]
    pub(crate) fn are_in_place(&self) -> bool {
        self.held().iter().all(|place| match found(place) {
            Ok(Some((_, held))) => held,
            Ok(None) => place.directory.is_none(),
            // The watch then lets a reload look, which reports the error.
            Err(_) => false,
        })
    }
}

/// Returns the directory at a path, if there is one, and whether it is the one that is held.
fn found(place: &OwnPlace) -> Result<Option<(Dir, bool)>, PlaceError> {
    let found = match places::open_plugins(&place.path) {
        Err(PlaceError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let held = is_same(place.directory.as_deref(), Some(&found)).map_err(|source| place.failed(source))?;
    Ok(Some((found, held)))
}

/// Returns whether two open directories are the same. The system cannot reuse the inode number of an open directory.
fn is_same(one: Option<&Dir>, other: Option<&Dir>) -> io::Result<bool> {
    let (Some(one), Some(other)) = (one, other) else { return Ok(false) };
    let (one, other) = (rustix::fs::fstat(one)?, rustix::fs::fstat(other)?);
    Ok((one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
}

/// Returns the working directory of this process, for use in descriptions. Returns `None` if the system does not tell.
#[expect(clippy::disallowed_methods, reason = "a name for descriptions, not a way to a handle")]
pub(super) fn working_directory() -> Option<String> {
    std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directories")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn named(path: &Path, required: bool) -> NamedPluginDirectory {
        NamedPluginDirectory { path: path.to_owned(), required }
    }

    #[test]
    fn an_optional_directory_is_found_once_it_exists_and_one_directory_counts_once() {
        let root = std::env::temp_dir().join(format!("portcullis-directories-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let (one, two, link) = (root.join("one"), root.join("two"), root.join("link"));
        fs::create_dir_all(&one).unwrap();
        symlink("one", &link).unwrap();
        assert!(PluginDirectories::open(&[named(&one, true), named(&two, true)]).is_err());
        let opened = PluginDirectories::open(&[named(&two, false), named(&one, true), named(&link, true)]).unwrap();
        let exist = |opened: &PluginDirectories| opened.held().iter().map(|place| place.directory.is_some()).collect();
        let before: Vec<bool> = exist(&opened);
        assert_eq!(before, [false, true]);
        assert!(opened.others().unwrap().is_none());
        fs::create_dir(&two).unwrap();
        opened.hold(opened.others().unwrap().unwrap());
        let after: Vec<bool> = exist(&opened);
        assert_eq!(after, [true, true]);
        fs::remove_dir_all(&root).unwrap();
    }
}
