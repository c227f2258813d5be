//! Keeps the cache within its limits. It removes files that a dead process left unfinished, and the least recently used
//! entries.
//!
//! An entry whose code a live host uses stays, because the host holds a lock on the file until its process ends. On
//! Unix, removing a file that another process reads is safe in any case, because its bytes stay until the last process
//! closes it.

use super::{CodeStore, Entry, UNFINISHED, file_name, note_use};
use rustix::fs::{FlockOperation, flock};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::OwnedSemaphorePermit;

/// Maximum size of all entries together, in bytes: the code of ten interpreters of about 100 MB each.
pub const CACHE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Maximum entries. A plugin has two, and a directory of plugins has at most 10,000 files.
const CACHE_ENTRIES_MAX: usize = 20_000;

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
                // A file that is still being written is locked, and stays.
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
}
