//! A temporary directory, taken away when it is no longer held.

use anyhow::{Context as _, bail, ensure};
use portcullis_build::project_file;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How many names are tried before giving up: what other runs of this process number have left behind.
const NAMES_MAX: u32 = 1000;

/// How many files and folders a case is given a copy of: what a tool may list of one directory unless a policy says
/// more.
const COPIED_ENTRIES_MAX: usize = 10_000;

/// How many bytes they have together: four times what a call may write. It is copied for every case, and one file of it
/// without looking at signals.
pub(super) const COPIED_BYTES_MAX: u64 = 256 * 1024 * 1024;

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

    /// Takes a directory as one that is made now, by whoever has this, or is not.
    pub(super) fn at(path: PathBuf) -> Self {
        Self(path)
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

/// Copies what is below a directory into another. What is neither a file nor a directory is left out.
///
/// # Errors
/// Something cannot be copied, or it is more than a case is given.
pub(super) async fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let (mut entries, mut bytes, mut folders) = (0, 0, vec![(from.to_owned(), to.to_owned())]);
    while let Some((from, to)) = folders.pop() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (kind, source, target) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
            entries += 1;
            ensure!(entries <= COPIED_ENTRIES_MAX, "it holds more than {COPIED_ENTRIES_MAX} files and folders");
            if kind.is_dir() {
                fs::create_dir_all(&target)?;
                folders.push((source, target));
            } else if kind.is_file() {
                bytes += entry.metadata()?.len();
                ensure!(bytes <= COPIED_BYTES_MAX, "its files have more than {COPIED_BYTES_MAX} bytes");
                project_file::copy(&source, &target, COPIED_BYTES_MAX).with_context(|| source.display().to_string())?;
            }
            // A signal is heard between two files.
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}
