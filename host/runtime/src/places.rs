//! The host's own places: the plugins and the policy, and the state directory of [`portcullis_ledger`].

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::fs::{Dir, OpenOptions};
use portcullis_policy::POLICY_BYTES;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

#[doc(inline)]
pub use portcullis_ledger::state_directory::{BucketAddress, OutputsAddress, PlaceError, PostgresAddress, StatePlace};
pub(crate) use portcullis_ledger::state_directory::{HostDirectories, open_directory};

/// Metadata that changes when a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    file: (u64, u64),
    bytes: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

/// Returns the stamp of the file at a path, links followed. `None` if it does not exist.
pub(crate) fn stamp(path: &Path) -> Option<FileStamp> {
    let stat = rustix::fs::stat(path).ok()?;
    Some(FileStamp {
        file: (stat.st_dev, stat.st_ino),
        bytes: stat.st_size,
        modified: (stat.st_mtime, stat.st_mtime_nsec),
        changed: (stat.st_ctime, stat.st_ctime_nsec),
    })
}

/// A directory of the host's own that no plugin may change. It need not exist.
#[derive(Clone)]
pub(crate) struct OwnPlace {
    /// What it is, for messages.
    pub(crate) what: &'static str,
    /// The path as the embedder named it, for messages.
    pub(crate) written: Arc<Path>,
    /// The absolute path.
    pub(crate) path: Arc<Path>,
    /// The open directory, if it exists.
    pub(crate) directory: Option<Arc<Dir>>,
}

impl OwnPlace {
    /// Adds the path to a system error.
    pub(crate) fn failed(&self, source: io::Error) -> PlaceError {
        PlaceError::Io { what: self.what, path: self.path.to_path_buf(), source }
    }

    /// Opens a directory that need not exist.
    pub(crate) fn if_exists(what: &'static str, written: &Path) -> Result<Self, PlaceError> {
        let failed = |source| PlaceError::Io { what, path: written.to_owned(), source };
        let path = std::path::absolute(written).map_err(failed)?.into();
        let directory = match open_directory(written) {
            Ok(directory) => Some(Arc::new(directory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { what, written: written.into(), path, directory })
    }
}

/// Opens a plugin directory.
pub(crate) fn open_plugins(path: &Path) -> Result<Dir, PlaceError> {
    let what = "the plugin directory";
    let directory = open_directory(path).map_err(|source| PlaceError::Io { what, path: path.to_owned(), source })?;
    let stat = rustix::fs::fstat(&directory);
    let stat = stat.map_err(|error| PlaceError::Io { what, path: path.to_owned(), source: error.into() })?;
    // In a world-writable directory, any user could replace a plugin.
    if stat.st_mode & 0o002 != 0 {
        return Err(PlaceError::Exposed { what, path: path.to_owned(), remedy: "o-w" });
    }
    Ok(directory)
}

/// A policy file that was read.
pub(crate) struct PolicyFile {
    pub(crate) text: String,
    /// The path as it was named.
    pub(crate) path: PathBuf,
    /// The directory of the file, from which its relative paths start.
    pub(crate) directory: PathBuf,
    pub(crate) handle: Dir,
}

impl PolicyFile {
    /// Reads a policy file. Returns `None` if it does not exist.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, PlaceError> {
        let failed = |source| PlaceError::Io { what: "the policy", path: path.to_owned(), source };
        let wrong = |why| PlaceError::Policy { path: path.to_owned(), why };
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            Some(_) | None => PathBuf::from("."),
        };
        let name = path.file_name().ok_or_else(|| wrong("not the name of a file"))?;
        let mut options = OpenOptions::new();
        // Otherwise opening a FIFO would wait for a writer (fifo(7)).
        options.read(true).nonblock(true);
        let opened = open_directory(&directory).and_then(|handle| Ok((handle.open_with(name, &options)?, handle)));
        let (file, handle) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(wrong("not a regular file"));
        }
        let mut bytes = Vec::new();
        // One byte more than allowed, by which the parser notices that the text is too long.
        file.take(POLICY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        let text = String::from_utf8(bytes).map_err(|_| wrong("not UTF-8"))?;
        Ok(Some(Self { text, path: path.to_owned(), directory, handle }))
    }
}

/// Returns the path without links. A part that does not exist yet is appended unchanged, so that creating it as a plain
/// directory does not change the result.
#[expect(clippy::disallowed_methods, reason = "a name to be compared with, not a way to a handle")]
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let mut existing = if path == Path::new("") { Path::new(".") } else { path };
    loop {
        match std::fs::canonicalize(existing) {
            Ok(mut resolved) => {
                missing.iter().rev().for_each(|name| resolved.push(name));
                return Ok(resolved);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // A dangling link would resolve once its target exists, so it has no place that can be trusted.
        if std::fs::symlink_metadata(existing).is_ok() {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is a dangling link", existing.display())));
        }
        let (Some(Component::Normal(name)), Some(parent)) = (existing.components().next_back(), existing.parent())
        else {
            return Err(io::ErrorKind::NotFound.into());
        };
        missing.push(name.to_owned());
        existing = if parent == Path::new("") { Path::new(".") } else { parent };
    }
}
