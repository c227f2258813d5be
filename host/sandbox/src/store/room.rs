//! Room in the cache: what a dead process left half written is removed, and the entries that were not used for longest
//! make room for others.
//!
//! An entry whose code a live host uses stays: the host holds a lock on the file, which ends with the process. Removing
//! a file that another process reads is safe on Unix in any case, because its bytes stay until the last one closes it.

use super::{CodeStore, Entry, file_name};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{File, OpenOptions, OpenOptionsExt};
use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_NOW, flock, futimens};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::OwnedSemaphorePermit;

/// What all entries may take together, in bytes: the code of ten interpreters, of which each takes about 100 MB.
pub const CACHE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The most entries. A plugin has two, and a directory of plugins has 10,000 files at most.
const CACHE_ENTRIES_MAX: usize = 20_000;

/// Entries that a host marks as used by an open file at one time. A process may often open no more than 1024 files.
pub(super) const MARKED_MAX: usize = 256;

/// How exactly the cache knows when an entry was used last. A change of the time is a write to the disk.
const USED_GRAIN: Duration = Duration::from_secs(60 * 60);

/// What the name of a file ends with that is being written.
const UNFINISHED: &str = ".new";

/// Counts the writers of this process.
static WRITERS: AtomicU64 = AtomicU64::new(0);

/// Marks the code of a plugin as used. The cache keeps it as long as this exists.
#[derive(Debug)]
pub struct InUse {
    _locked: std::fs::File,
    _place: OwnedSemaphorePermit,
}

/// A file of the cache.
struct CacheFile {
    name: String,
    bytes: u64,
    /// When it was used last.
    used: SystemTime,
}

impl CodeStore {
    /// Marks the code of a plugin as used. `None` where there is none, or where too many are marked: those were used
    /// recently, and are the last to go.
    pub fn mark_in_use(&self, plugin: &[u8; 32]) -> Option<InUse> {
        let place = Arc::clone(&self.marks).try_acquire_owned().ok()?;
        let file = self.open_entry(&file_name(Entry::Code, &self.id(Entry::Code, plugin))).ok()?;
        note_use(&file);
        let locked = file.into_std();
        flock(&locked, FlockOperation::NonBlockingLockShared).ok()?;
        Some(InUse { _locked: locked, _place: place })
    }

    /// Creates a file to write an entry into, which no other writer has. Its lock says that it is being written.
    pub(super) fn begin_entry(&self, name: &str) -> io::Result<(String, std::fs::File)> {
        loop {
            let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
            let unfinished = format!("{name}.{}.{writer}{UNFINISHED}", std::process::id());
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600).follow(FollowSymlinks::No);
            let file = match self.directory.open_with(&unfinished, &options) {
                // A process of this number in another container has it, or an earlier process has left it.
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

    /// Removes what dead processes left half written, and the entries that were not used for longest where all of them
    /// take more than [`CACHE_BYTES_MAX`]. What cannot be removed is left for the next time.
    pub fn make_room(&self) {
        // A cache that cannot be listed costs space and nothing else.
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

    /// Looks at an entry of this cache. `None` for any other file, which is never removed.
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
        // The lock is held until the file is gone, so that a writer which waits for it finds that out.
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

/// Notes that an entry is used now. Where that fails, it makes room for others earlier.
pub(super) fn note_use(file: &File) {
    let modified = file.metadata().and_then(|metadata| metadata.modified()).map(cap_std::time::SystemTime::into_std);
    let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
    if age.is_none_or(|age| age >= USED_GRAIN) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = futimens(file, &Timestamps { last_access: now, last_modification: now });
    }
}
