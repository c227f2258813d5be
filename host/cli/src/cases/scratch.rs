//! A temporary directory, taken away when it is no longer held.

use anyhow::{Context as _, bail};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How many names are tried before giving up: what other runs of this process number have left behind.
const NAMES_MAX: u32 = 1000;

/// A directory that nobody else may enter.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one.
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir();
        let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
        for number in 0..NAMES_MAX {
            let path = folder.join(format!("portcullis-test-{}-{number}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            }
        }
        bail!("{} has no room for a directory of this program", folder.display())
    }

    /// A path in it.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which empties its temporary directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a directory, or takes everything out of the one that is there, which stays the same directory.
pub(super) fn empty(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Writes a file, and the directories that it lies in.
pub(super) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, contents)
}

/// Copies the files below a directory into another. What is neither a file nor a directory is left out.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            fs::create_dir_all(&target)?;
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
