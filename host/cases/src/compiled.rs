//! Caches the compiled code of components in the user's cache between runs, because compiling an interpreter takes half
//! a minute.
//!
//! An entry consists of the key and the code cache of a state directory that was never used for anything else. As with
//! any state, the host uses only what has a valid seal of the key.

use portcullis_build::cache;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder in the user's cache.
const FOLDER: &str = "compiled";

/// Maximum number of components in the cache, enough for a few projects. An interpreter's code takes about 50 MiB.
const ENTRIES_MAX: usize = 12;

/// The parts of a state directory that belong to compiled code.
const CACHE: &str = "cache";
const KEY: &str = "key";

/// The cache entry for the code of one component.
pub(super) struct Compiled {
    folder: PathBuf,
    entry: PathBuf,
}

impl Compiled {
    /// Returns the entry for a component. `None` if the user has no cache.
    pub(super) fn of(component: &[u8]) -> Option<Self> {
        let folder = cache::folder(FOLDER).ok()?;
        Some(Self { entry: folder.join(cache::digest(component)), folder })
    }

    /// Initializes a state directory from the entry, if there is one. If copying fails, the component is compiled.
    pub(super) fn adopt(&self, state: &Path) {
        if begin(&self.entry, state).is_ok() {
            // If this fails, the entry is only evicted sooner.
            let _ = cache::touch(&self.entry);
        } else {
            // Remove a partial copy.
            let _ = fs::remove_dir_all(state);
        }
    }

    /// Stores the compiled code of a state directory. Ignores errors, because the cache is optional.
    pub(super) fn keep(&self, state: &Path) {
        let partial = self.folder.join(format!("{}.partial", std::process::id()));
        let _ = fs::remove_dir_all(&partial);
        let kept = begin(state, &partial).and_then(|()| {
            let _ = fs::remove_dir_all(&self.entry);
            fs::rename(&partial, &self.entry)
        });
        if kept.is_err() {
            let _ = fs::remove_dir_all(&partial);
        }
        let _ = cache::forget_oldest(&self.folder, ENTRIES_MAX);
    }
}

/// Initializes a state directory with only the compiled code of another one.
pub(super) fn begin(from: &Path, to: &Path) -> io::Result<()> {
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
