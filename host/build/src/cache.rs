//! The folder of this project in the user's cache: what takes long to make or to fetch, keyed by content.
//!
//! An entry is made beside its place and renamed into it, under a lock: what exists is complete.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

/// `$XDG_CACHE_HOME/portcullis/<kind>`, or the same under `~/.cache`.
pub fn folder(kind: &str) -> Result<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is an absolute path: set one of them")?;
    Ok(cache.join("portcullis").join(kind))
}

/// Returns `folder/key`; where it does not exist yet, `make` fills an empty directory that is then renamed to it.
pub fn entry(folder: &Path, key: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let place = folder.join(key);
    if place.exists() {
        return Ok(place);
    }
    let _lock = hold(folder, "lock", &format!("another run is filling {}", folder.display()))?;
    // The run that held the lock may have made this very entry.
    if place.exists() {
        return Ok(place);
    }
    let partial = folder.join(format!("{key}.partial"));
    empty(&partial)?;
    if let Err(failure) = make(&partial) {
        // What is half made is of no use, and may be large. The failure to report is the first one.
        let _ = fs::remove_dir_all(&partial);
        return Err(failure);
    }
    fs::rename(&partial, &place).with_context(|| format!("cannot move {} into place", partial.display()))?;
    Ok(place)
}

/// Waits for the lock `name` in a folder, which is held as long as the file is. Where somebody else has it, it says
/// why.
pub(crate) fn hold(folder: &Path, name: &str, why: &str) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let lock = File::create(folder.join(name)).with_context(|| format!("cannot lock {}", folder.display()))?;
    if lock.try_lock().is_err() {
        eprintln!("{why}: waiting for it");
        lock.lock()?;
    }
    Ok(lock)
}

/// Makes `directory` exist and hold nothing.
pub fn empty(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
}

/// The SHA-256 of `bytes` in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha_256() {
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn an_interrupted_entry_never_looks_ready() {
        let folder = std::env::temp_dir().join(format!("portcullis-cache-{}", std::process::id()));
        let interrupted = entry(&folder, "key", |partial| {
            fs::write(partial.join("half"), "")?;
            anyhow::bail!("interrupted")
        });
        assert!(interrupted.is_err() && !folder.join("key").exists());
        let made = entry(&folder, "key", |partial| {
            assert!(!partial.join("half").exists());
            Ok(fs::write(partial.join("whole"), "")?)
        });
        assert!(made.unwrap().join("whole").exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
