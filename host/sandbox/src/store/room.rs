//! Keeps the cache within its limits. It removes files that a dead process left unfinished, and the least recently used
//! entries.
//!
//! An entry whose code a live host uses stays, because the host holds a lock on the file until its process ends. On
//! Unix, removing a file that another process reads is safe in any case, because its bytes stay until the last process
//! closes it.

use super::{CodeStore, Entry, file_name};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{File, OpenOptions, OpenOptionsExt};
use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_NOW, flock, futimens};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::OwnedSemaphorePermit;

/// Maximum size of all entries together, in bytes: the code of ten interpreters of about 100 MB each.
pub const CACHE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Maximum entries. A plugin has two, and a directory of plugins has at most 10,000 files.
const CACHE_ENTRIES_MAX: usize = 20_000;

/// Maximum entries that a host marks as used at one time. Each mark is an open file, and the usual limit of a process
/// is 1024.
pub(super) const MARKED_MAX: usize = 256;

/// Resolution of the time of an entry's last use. It is coarse, because each update of the time writes to the disk.
const USED_GRAIN: Duration = Duration::from_secs(60 * 60);

/// The suffix of a file that is being written.
const UNFINISHED: &str = ".new";

/// Counts the writers of this process.
static WRITERS: AtomicU64 = AtomicU64::new(0);

/// A guard that marks the code of a plugin as used. The cache keeps the code until it is dropped.
#[derive(Debug)]
pub struct InUse {
    _locked: std::fs::File,
    _place: OwnedSemaphorePermit,
}

/// A file of the cache.
struct CacheFile {
    name: String,
    bytes: u64,
    /// The time of the last use.
    used: SystemTime,
}

impl CodeStore {
    /// Marks the code of a plugin as used. Returns `None` if there is no entry, or if too many are marked. An entry
    /// without a mark was still used recently, so it is removed last.
    pub fn mark_in_use(&self, plugin: &[u8; 32]) -> Option<InUse> {
        let place = Arc::clone(&self.marks).try_acquire_owned().ok()?;
        let file = self.open_entry(&file_name(Entry::Code, &self.id(Entry::Code, plugin))).ok()?;
        note_use(&file);
        let locked = file.into_std();
        flock(&locked, FlockOperation::NonBlockingLockShared).ok()?;
        Some(InUse { _locked: locked, _place: place })
    }

    /// Creates a file for a new entry that no other writer uses. Its lock marks it as being written.
    pub(super) fn begin_entry(&self, name: &str) -> io::Result<(String, std::fs::File)> {
        loop {
            let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
            let unfinished = format!("{name}.{}.{writer}{UNFINISHED}", std::process::id());
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600).follow(FollowSymlinks::No);
            let file = match self.directory.open_with(&unfinished, &options) {
                // A process with the same id in another container uses the name, or an earlier process left the file.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?.into_std(),
            };
            flock(&file, FlockOperation::LockExclusive)?;
            // Another host may have removed it before it was locked.
            if rustix::fs::fstat(&file)?.st_nlink > 0 {
                return Ok((unfinished, file));
            }
        }
    }

    /// Removes files that dead processes left unfinished. If the entries exceed [`CACHE_BYTES_MAX`], also removes the
    /// least recently used ones. A file that cannot be removed is left for the next time.
    pub fn make_room(&self) {
        // A cache that cannot be listed only wastes disk space, so the error is ignored.
        let _ = self.make_room_for(CACHE_BYTES_MAX, CACHE_ENTRIES_MAX);
    }

    fn make_room_for(&self, bytes_max: u64, entries_max: usize) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in self.directory.entries()? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(UNFINISHED) {
                let _ = self.remove_unlocked(&name);
            } else if let Some(file) = self.cache_file(name) {
                entries.push(file);
            }
        }
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut count = entries.len();
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if bytes <= bytes_max && count <= entries_max {
                break;
            }
            if self.remove_unlocked(&entry.name).is_ok() {
                bytes -= entry.bytes;
                count -= 1;
            }
        }
        Ok(())
    }

    /// Inspects an entry of this cache. Returns `None` for any other file, which is never removed.
    fn cache_file(&self, name: String) -> Option<CacheFile> {
        let (id, kind) = name.split_once('.')?;
        let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id || !Entry::ALL.iter().any(|entry| entry.name() == kind) {
            return None;
        }
        let metadata = self.directory.symlink_metadata(&name).ok()?;
        let used = metadata.modified().ok()?.into_std();
        Some(CacheFile { name, bytes: metadata.len(), used })
    }

    /// Removes a file that no process has locked.
    fn remove_unlocked(&self, name: &str) -> io::Result<()> {
        let file = self.open_entry(name)?.into_std();
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        // Hold the lock until the file is removed, so that a waiting writer then sees that it has no links left.
        self.directory.remove_file(name)?;
        drop(file);
        Ok(())
    }

    pub(super) fn open_entry(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        self.directory.open_with(name, &options)
    }
}

/// Updates the time of an entry's last use. If that fails, the entry is only removed earlier.
pub(super) fn note_use(file: &File) {
    let modified = file.metadata().and_then(|metadata| metadata.modified()).map(cap_std::time::SystemTime::into_std);
    let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
    if age.is_none_or(|age| age >= USED_GRAIN) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = futimens(file, &Timestamps { last_access: now, last_modification: now });
    }
}
