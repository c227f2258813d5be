//! Caches the compiled code of components in the user's cache between runs, because compiling an interpreter takes half
//! a minute. The commands that examine a component or run its cases share it.
//!
//! An entry is a folder for one component ([`CodeCache::directory_of`]). It consists of the key and the code cache of a
//! state directory that was never used for anything else. As with any state, only code with a valid seal of the key is
//! used.

use portcullis::plugins::CodeCache;
use portcullis_build::cache;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder in the user's cache.
const FOLDER: &str = "compiled";

/// Maximum size of all entries together, in bytes: that of the code cache in a state directory.
const CODE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Maximum number of components in the cache. Each use lists them, and most take less than a megabyte.
const ENTRIES_MAX: usize = 1000;

/// The parts of a state directory that belong to compiled code.
const CACHE: &str = "cache";
const KEY: &str = "key";

/// The entry of one component in the user's cache of compiled code.
pub struct KeptCode {
    folder: PathBuf,
    entry: PathBuf,
}

impl KeptCode {
    /// Returns the folder of all entries. `None` if the user has no cache.
    pub fn folder() -> Option<PathBuf> {
        cache::folder(FOLDER).ok()
    }

    /// Returns the entry of a component. `None` if the user has no cache.
    pub fn of(component: &[u8]) -> Option<Self> {
        let folder = Self::folder()?;
        Some(Self { entry: CodeCache::new(&folder).directory_of(component), folder })
    }

    /// Returns the cache that uses and fills the entry.
    pub fn cache(&self) -> CodeCache {
        CodeCache::new(&self.folder)
    }

    /// Marks the entry as used now, if it exists, and evicts the least recently used entries. Ignores errors, because
    /// the cache is optional.
    pub fn mark_used(&self) {
        if cache::touch(&self.entry).is_ok() {
            let _ = evict(&self.folder);
        }
    }

    /// Initializes a state directory from the entry, if there is one. If copying fails, the component is compiled.
    pub(super) fn adopt(&self, state: &Path) {
        if begin(&self.entry, state).is_ok() {
            self.mark_used();
        } else {
            // Remove a partial copy.
            let _ = fs::remove_dir_all(state);
        }
    }

    /// Stores the compiled code of a state directory. Ignores errors, because the cache is optional.
    pub(super) fn keep(&self, state: &Path) {
        let partial = self.folder.join(format!("{}.partial", std::process::id()));
        // An earlier process with the same id may have left a folder of this name.
        let _ = fs::remove_dir_all(&partial);
        let kept = begin(state, &partial).and_then(|()| {
            // `rename` does not replace a folder that has content (rename(2)).
            let _ = fs::remove_dir_all(&self.entry);
            fs::rename(&partial, &self.entry)
        });
        if kept.is_err() {
            let _ = fs::remove_dir_all(&partial);
        }
        self.mark_used();
    }
}

/// Removes the least recently used entries beyond the limits.
fn evict(folder: &Path) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Another process may have just removed the entry.
        if let Ok(used) = fs::metadata(&path).and_then(|metadata| metadata.modified()) {
            entries.push((used, path));
        }
    }
    entries.sort_by(|one, other| other.cmp(one));
    let mut bytes = 0;
    for (count, (_, entry)) in entries.iter().enumerate() {
        bytes += code_bytes(entry);
        if count >= ENTRIES_MAX || bytes > CODE_BYTES_MAX {
            // What remains is removed the next time.
            let _ = fs::remove_dir_all(entry);
        }
    }
    Ok(())
}

/// Returns the size of the code in an entry.
fn code_bytes(entry: &Path) -> u64 {
    let files = fs::read_dir(entry.join(CACHE)).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Initializes a state directory with only the compiled code of another one.
pub(super) fn begin(from: &Path, to: &Path) -> io::Result<()> {
    // No other user may read the key that seals the code.
    fs::DirBuilder::new().mode(0o700).recursive(true).create(to.join(CACHE))?;
    fs::copy(from.join(KEY), to.join(KEY))?;
    for entry in fs::read_dir(from.join(CACHE))? {
        let (source, target) = (entry?.path(), to.join(CACHE));
        let target = target.join(source.file_name().unwrap_or_default());
        // Entries are replaced and never modified, so a hard link is as good as a copy.
        fs::hard_link(&source, &target).or_else(|_| fs::copy(&source, &target).map(|_| ()))?;
    }
    Ok(())
}
