//! A temporary directory that is removed on drop.

use anyhow::{Context as _, bail, ensure};
use portcullis_build::project_file;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of names to try. Earlier processes with the same id may have left some behind.
const NAMES_MAX: u32 = 1000;

/// Maximum files and folders to copy for a case. It is also the default limit for listing one directory.
const COPIED_ENTRIES_MAX: usize = 10_000;

/// Maximum size of a copy in bytes: four times what a call may write. Every case gets a copy, and signals are handled
/// only between files.
pub(super) const COPIED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How long a directory is removed again if a host was interrupted while it opened in it. The host's threads create
/// files for some milliseconds more, and the directory too.
const SETTLING_TIME: Duration = Duration::from_millis(300);

/// The pause between two removals.
const REMOVAL_PAUSE: Duration = Duration::from_millis(10);

/// A directory that other users cannot enter.
pub(super) struct Scratch {
    path: PathBuf,
    /// Whether a host opens in it at the moment.
    is_changing: AtomicBool,
}

impl Scratch {
    /// Creates a directory.
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir();
        let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
        for number in 0..NAMES_MAX {
            let path = folder.join(format!("portcullis-test-{}-{number}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self::at(path)),
                // Never use a directory that exists: another user may have made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            }
        }
        bail!("cannot create a directory in {}: remove old portcullis-test-* directories there", folder.display())
    }

    /// Takes ownership of a path. The directory need not exist.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, is_changing: AtomicBool::new(false) }
    }

    /// Returns a path in the directory.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.join(path)
    }

    /// Waits for a change whose threads go on if it is dropped.
    pub(super) async fn changed_by<T>(&self, change: impl Future<Output = T>) -> T {
        self.is_changing.store(true, Ordering::Relaxed);
        // If this future is dropped here, the flag stays set, and `drop` waits for the threads.
        let changed = change.await;
        self.is_changing.store(false, Ordering::Relaxed);
        changed
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let dropped = Instant::now();
        // The system cleans up its temporary directory if this fails.
        let _ = fs::remove_dir_all(&self.path);
        while *self.is_changing.get_mut() && dropped.elapsed() < SETTLING_TIME {
            thread::sleep(REMOVAL_PAUSE);
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Creates a directory, or removes the content of an existing one. The directory itself stays.
pub(super) fn empty(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    // Keep the directory itself, because an open host of an earlier case holds a handle to it.
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        // `file_type` does not follow links, so a link is removed and not what it leads to.
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Writes a file and creates its parent directories.
pub(super) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, contents)
}

/// Copies the content of a directory into another. Skips what is neither a file nor a directory.
///
/// # Errors
/// Something cannot be copied, or a limit is exceeded.
pub(super) async fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let (mut entries, mut bytes, mut folders) = (0, 0, vec![(from.to_owned(), to.to_owned())]);
    while let Some((from, to)) = folders.pop() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (kind, source, target) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
            entries += 1;
            ensure!(entries <= COPIED_ENTRIES_MAX, "it contains more than {COPIED_ENTRIES_MAX} files and folders");
            // A link is neither of the two, so nothing outside the directory is copied.
            if kind.is_dir() {
                fs::create_dir_all(&target)?;
                folders.push((source, target));
            } else if kind.is_file() {
                bytes += entry.metadata()?.len();
                ensure!(bytes <= COPIED_BYTES_MAX, "its files have more than {COPIED_BYTES_MAX} bytes");
                // The file may grow after the check, so the copy has a limit too.
                project_file::copy(&source, &target, COPIED_BYTES_MAX).with_context(|| source.display().to_string())?;
            }
            // Yield between two files, so that a signal can interrupt the run.
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}
