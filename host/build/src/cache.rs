//! This program's folder in the user's cache. Entries are expensive to build or fetch, and keyed by content.
//!
//! An entry is built in a temporary folder and renamed into place under a lock, so an existing entry is complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::project_file;

/// Returns `$XDG_CACHE_HOME/portcullis/<kind>`, or the same under `~/.cache`.
pub fn folder(kind: &str) -> Result<PathBuf> {
    // The XDG Base Directory Specification says to ignore a path that is not absolute.
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is an absolute path: set one of them")?;
    Ok(cache.join("portcullis").join(kind))
}

/// Returns `folder/key`. If it does not exist yet, `make` fills an empty directory, which is then renamed to it.
pub fn entry(folder: &Path, key: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    // An entry never changes, so one that exists needs no lock. Filling another entry can hold the lock for minutes.
    let place = folder.join(key);
    if place.exists() {
        return Ok(place);
    }
    let _lock = hold(folder, "lock", &format!("another run is filling {}", folder.display()))?;
    // The process that held the lock may have created this entry.
    if place.exists() {
        return Ok(place);
    }
    let partial = folder.join(format!("{key}.partial"));
    empty(&partial)?;
    if let Err(failure) = make(&partial) {
        // A partial entry is useless and may be large. Report the first failure, not one of the removal.
        let _ = fs::remove_dir_all(&partial);
        return Err(failure);
    }
    fs::rename(&partial, &place).with_context(|| format!("cannot move {} into place", partial.display()))?;
    Ok(place)
}

/// Waits for the lock `name` in a folder. The lock is held until the returned file is dropped. If another process holds
/// it, prints `why`.
pub(crate) fn hold(folder: &Path, name: &str, why: &str) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let lock = File::create(folder.join(name)).with_context(|| format!("cannot lock {}", folder.display()))?;
    if lock.try_lock().is_err() {
        eprintln!("{why}: waiting for it");
        lock.lock()?;
    }
    Ok(lock)
}

/// Creates `directory`, or empties it if it exists.
pub fn empty(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
}

/// Marks an entry as used now, for [`forget_oldest`].
///
/// # Errors
/// The entry cannot be opened.
pub fn touch(entry: &Path) -> io::Result<()> {
    // The owner can set times through a file that is only open to read, so this also works for a folder.
    File::open(entry)?.set_modified(SystemTime::now())
}

/// Removes all entries of a folder except the `keep` most recently used.
///
/// # Errors
/// The folder cannot be listed.
pub fn forget_oldest(folder: &Path, keep: usize) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // An entry without metadata was just removed by another process.
        if let Ok(used) = entry.metadata().and_then(|metadata| metadata.modified()) {
            entries.push((used, entry.path()));
        }
    }
    entries.sort_by(|one, other| other.cmp(one));
    for (_, entry) in entries.iter().skip(keep) {
        // Another process may be removing it too. What remains is removed the next time.
        let _ = fs::remove_dir_all(entry);
    }
    Ok(())
}

/// Returns a digest of the names and contents of all files below a folder, except in folders named in `but`.
///
/// # Errors
/// Something cannot be read.
pub fn digest_of(folder: &Path, but: &[&str]) -> Result<String> {
    let read = || format!("cannot read {}", folder.display());
    let mut entries = fs::read_dir(folder).with_context(read)?.collect::<io::Result<Vec<_>>>()?;
    // `read_dir` has no order, and the digest must not depend on one.
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut lines = String::new();
    for entry in entries {
        let (name, place) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        if but.contains(&name.as_str()) {
            continue;
        }
        // Follow links, unlike the entry's own type, because the contract is a link.
        let content = match fs::metadata(&place).with_context(read)?.is_dir() {
            true => digest_of(&place, but)?,
            false => digest(&project_file::read(&place, project_file::MODULE_BYTES_MAX).with_context(read)?),
        };
        lines.push_str(&format!("{content} {name}\n"));
    }
    Ok(digest(lines.as_bytes()))
}

/// Returns the SHA-256 of `bytes` in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
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
