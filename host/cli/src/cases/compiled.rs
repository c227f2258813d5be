//! Compiled code of components, kept in the user's cache from one run to the next: an interpreter takes half a minute.
//!
//! An entry is the key and the cache of a state directory in which nothing else ever was. The host believes of it what
//! it believes of any state: nothing that does not carry the key's seal.

use portcullis_build::cache;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder in the user's cache.
const FOLDER: &str = "compiled";

/// How many components are remembered: those of a few projects. The code of an interpreter takes some 50 MiB.
const ENTRIES_MAX: usize = 12;

/// The files of a state directory that compiled code is kept under.
const CACHE: &str = "cache";
const KEY: &str = "key";

/// Where the code of one component is kept.
pub(super) struct Compiled {
    folder: PathBuf,
    entry: PathBuf,
}

impl Compiled {
    /// The place for a component; nothing where the user has no cache.
    pub(super) fn of(component: &[u8]) -> Option<Self> {
        let folder = cache::folder(FOLDER).ok()?;
        Some(Self { entry: folder.join(cache::digest(component)), folder })
    }

    /// Begins a state directory with what is kept, if anything is. A copy that fails is one that compiles again.
    pub(super) fn adopt(&self, state: &Path) {
        if begin(&self.entry, state).is_ok() {
            // Without it, it is only forgotten sooner.
            let _ = cache::touch(&self.entry);
        } else {
            // Nothing of it, rather than half.
            let _ = fs::remove_dir_all(state);
        }
    }

    /// Keeps what was compiled in a state directory. The cache is a convenience: what fails is not kept.
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

/// Begins a state directory with the compiled code of another, and nothing else of it.
pub(super) fn begin(from: &Path, to: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(to.join(CACHE))?;
    fs::copy(from.join(KEY), to.join(KEY))?;
    for entry in fs::read_dir(from.join(CACHE))? {
        let (source, target) = (entry?.path(), to.join(CACHE));
        let target = target.join(source.file_name().unwrap_or_default());
        // An entry is replaced and never written into, so that a second name for it is as good as a copy.
        fs::hard_link(&source, &target).or_else(|_| fs::copy(&source, &target).map(|_| ()))?;
    }
    Ok(())
}
