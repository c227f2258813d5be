//! The host's own places: the plugins, the policy and the state. Only this file of the crate turns paths into handles.
//! Everything else works with the handles.

use crate::text::hex;
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use portcullis_policy::POLICY_BYTES;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// The file of the key, in the state directory. The key seals the audit log, the ledger and the cache.
const KEY_FILE: &str = "key";

/// The directory of the cache, in the state directory.
const CACHE_DIRECTORY: &str = "cache";

/// Why one of the host's places cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The system reports an error.
    #[error("cannot use {} {}", what, path.display())]
    Io {
        /// Which place.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Other users could change or read what the host relies on.
    #[error("{} {} is open to other users: remove their permissions with `chmod {remedy}`", what, path.display())]
    Exposed {
        /// Which place.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The change of the mode, for `chmod`.
        remedy: &'static str,
    },
    /// The place belongs to another user.
    #[error("{} {} belongs to another user: use a place of your own", what, path.display())]
    Foreign {
        /// Which place.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The key is not 32 bytes.
    #[error("the key {} is damaged: move the whole state directory away to start a new one", path.display())]
    Key {
        /// The path.
        path: PathBuf,
    },
    /// The policy is not UTF-8, or is too large.
    #[error("the policy {} is {why}", path.display())]
    Policy {
        /// The path.
        path: PathBuf,
        /// The problem.
        why: &'static str,
    },
}

/// The opened state directory.
pub(crate) struct HostDirectories {
    pub(crate) path: PathBuf,
    pub(crate) directory: Dir,
    pub(crate) cache: Dir,
    pub(crate) key: [u8; 32],
}

impl HostDirectories {
    /// Opens the state directory. Creates a private one with a new key if it does not exist.
    pub(crate) fn open(path: &Path) -> Result<Self, PlaceError> {
        let failed = |source| PlaceError::Io { what: "the state directory", path: path.to_owned(), source };
        create_private(path).map_err(failed)?;
        let directory = open_directory(path).map_err(failed)?;
        check_owned(&directory, 0o077, "the state directory", path)?;
        let key = read_or_make_key(&directory, path)?;
        match directory.create_dir(CACHE_DIRECTORY) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            Ok(()) | Err(_) => {}
        }
        let cache = directory.open_dir_nofollow(CACHE_DIRECTORY).map_err(failed)?;
        check_owned(&cache, 0o022, "the cache directory", &path.join(CACHE_DIRECTORY))?;
        Ok(Self { path: path.to_owned(), directory, cache, key })
    }
}

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

/// Opens the plugin directory.
pub(crate) fn open_plugins(path: &Path) -> Result<Dir, PlaceError> {
    let what = "the plugin directory";
    let directory = open_directory(path).map_err(|source| PlaceError::Io { what, path: path.to_owned(), source })?;
    let stat = stat(&directory, what, path)?;
    // In a world-writable directory, any user could replace a plugin.
    if stat.st_mode & 0o002 != 0 {
        return Err(PlaceError::Exposed { what, path: path.to_owned(), remedy: "o-w" });
    }
    Ok(directory)
}

/// A policy file that was read.
pub(crate) struct PolicyFile {
    pub(crate) text: String,
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
        file.take(POLICY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        let text = String::from_utf8(bytes).map_err(|_| wrong("not UTF-8"))?;
        Ok(Some(Self { text, directory, handle }))
    }
}

#[expect(clippy::disallowed_methods, reason = "the paths of the host's own places come from the person who starts it")]
pub(crate) fn open_directory(path: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(path, ambient_authority())
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

fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn stat(directory: &Dir, what: &'static str, path: &Path) -> Result<rustix::fs::Stat, PlaceError> {
    rustix::fs::fstat(directory).map_err(|error| PlaceError::Io { what, path: path.to_owned(), source: error.into() })
}

fn check_owned(directory: &Dir, closed: u32, what: &'static str, path: &Path) -> Result<(), PlaceError> {
    let stat = stat(directory, what, path)?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(PlaceError::Foreign { what, path: path.to_owned() });
    }
    if stat.st_mode & closed != 0 {
        return Err(PlaceError::Exposed { what, path: path.to_owned(), remedy: "go-rwx" });
    }
    Ok(())
}

fn read_or_make_key(directory: &Dir, path: &Path) -> Result<[u8; 32], PlaceError> {
    let path = path.join(KEY_FILE);
    let failed = |source| PlaceError::Io { what: "the key", path: path.clone(), source };
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    match directory.open_with(KEY_FILE, &options) {
        Ok(file) => read_key(file).map_err(failed)?.ok_or(PlaceError::Key { path: path.clone() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(directory).map_err(failed),
        Err(error) => Err(failed(error)),
    }
}

fn read_key(file: File) -> io::Result<Option<[u8; 32]>> {
    let mut key = Vec::new();
    file.take(33).read_to_end(&mut key)?;
    Ok(key.try_into().ok())
}

/// Creates a key under a temporary name and links it into place. If two hosts start together, only one link succeeds,
/// and both use its key.
fn make_key(directory: &Dir) -> io::Result<[u8; 32]> {
    let (mut key, mut suffix) = ([0_u8; 32], [0_u8; 16]);
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    getrandom::fill(&mut suffix).map_err(io::Error::other)?;
    let temporary = format!("{KEY_FILE}.{}.new", hex(&suffix));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = directory.open_with(&temporary, &options)?;
    file.write_all(&key)?;
    file.sync_all()?;
    let linked = directory.hard_link(&temporary, directory, KEY_FILE);
    directory.remove_file(&temporary)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // Whichever host won, use the key that is in place now.
        Ok(()) | Err(_) => read_key(directory.open(KEY_FILE)?)?.ok_or_else(|| io::ErrorKind::InvalidData.into()),
    }
}
