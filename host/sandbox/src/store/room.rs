//! Room in the cache: what a dead process left half written is removed, and the entries that were not used for longest
//! make room for others.
//!
//! An entry whose code a live host uses stays: the host holds a lock on the file, which ends with the process. Removing
//! a file that another process reads is safe on Unix in any case, because its bytes stay until the last one closes it.

use super::{CodeStore, Entry, UNFINISHED, file_name, note_use};
use rustix::fs::{FlockOperation, flock};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::OwnedSemaphorePermit;

/// What all entries may take together, in bytes: the code of ten interpreters, of which each takes about 100 MB.
pub const CACHE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The most entries. A plugin has two, and a directory of plugins has 10,000 files at most.
const CACHE_ENTRIES_MAX: usize = 20_000;

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
}
