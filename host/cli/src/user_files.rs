//! The small files of the user that commands write: policies, the record of what `init` wrote, and configurations of
//! agents.
//! No other file of this crate replaces or removes a file of the user.
//!
//! A file is replaced as a whole, by a new file with the same mode, and only if it still has the bytes that the caller
//! has read. So an editor or an agent that writes at the same time loses nothing.
#![expect(
    clippy::disallowed_methods,
    reason = "these files are the user's own, at paths that the user has named or confirmed"
)]

use anyhow::{Context as _, bail, ensure};
use portcullis_build::project_file;
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Maximum size of such a file, in bytes. `~/.claude.json` can have several megabytes.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Mode of a new file that only the user needs to read.
pub(crate) const PRIVATE: u32 = 0o600;

/// Mode of a new file of a project, which others may need to read.
pub(crate) const SHARED: u32 = 0o644;

/// Mode of a new directory that only the user needs to read.
const PRIVATE_DIRECTORY: u32 = 0o700;

/// Mode of a new directory of a project. The process's mask applies to it.
const SHARED_DIRECTORY: u32 = 0o777;

/// Returns the hash of a file's bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Reads a file. Returns `None` if it does not exist.
///
/// # Errors
/// It is not a regular file, it is too large, or the system refuses.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match project_file::read(path, FILE_BYTES_MAX) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the path without links. Parts that do not exist are appended.
///
/// # Errors
/// A link leads nowhere, or the system refuses.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        // A link that leads nowhere exists by itself, and must not count as missing.
        Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(error) };
            Ok(resolve(parent)?.join(name))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(io::Error::new(ErrorKind::NotFound, "it is a link to a file that does not exist"))
        }
        resolved => resolved,
    }
}

/// Creates the missing directories above a file that is to have this mode.
///
/// # Errors
/// The system refuses.
pub(crate) fn create_parents(file: &Path, mode: u32) -> io::Result<()> {
    let Some(parent) = file.parent() else { return Ok(()) };
    let mode = if mode == PRIVATE { PRIVATE_DIRECTORY } else { SHARED_DIRECTORY };
    DirBuilder::new().recursive(true).mode(mode).create(parent)
}

/// Returns the directories above a file that do not exist, the outermost first.
pub(crate) fn missing_parents(file: &Path) -> Vec<PathBuf> {
    let parents = file.ancestors().skip(1).take_while(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    let mut missing: Vec<PathBuf> = parents.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Says why a file must not be replaced, if it exists.
///
/// # Errors
/// It is read-only, or belongs to another user.
pub(crate) fn check_replaceable(path: &Path) -> anyhow::Result<()> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    ensure!(metadata.is_file(), "it is not a regular file");
    ensure!(metadata.uid() == rustix::process::geteuid().as_raw(), "it belongs to another user");
    // A rename would succeed all the same: it needs only the right to write to the directory.
    ensure!(metadata.mode() & 0o200 != 0, "it is read-only");
    Ok(())
}

/// Writes a file in place of what is there, all of it or nothing. `before` is what the caller has read there. An
/// existing file keeps its mode, and a new one gets `mode`. The directory must exist.
///
/// # Errors
/// The file changed meanwhile, or the system refuses.
pub(crate) fn replace(path: &Path, before: Option<&[u8]>, after: &[u8], mode: u32) -> anyhow::Result<()> {
    let kept = match fs::symlink_metadata(path) {
        Ok(metadata) => Some(metadata.permissions().mode() & 0o7777),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    let name = path.file_name().context("it has no name")?.to_string_lossy();
    // Beside the file, because a rename does not cross file systems.
    let temporary = path.with_file_name(format!(".{name}.portcullis-{}", std::process::id()));
    let written = write_new(&temporary, after, mode, kept).map_err(anyhow::Error::from).and_then(|()| {
        // Compared last, so that almost no time is left for another change.
        if read(path)?.as_deref() != before {
            bail!("it was changed by someone else meanwhile, so nothing was written: try again");
        }
        fs::rename(&temporary, path)?;
        // The new name survives a crash of the machine once the directory is on disk. The change counts anyway.
        let _ = path.parent().map(|directory| File::open(directory).and_then(|handle| handle.sync_all()));
        Ok(())
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_new(path: &Path, bytes: &[u8], mode: u32, kept: Option<u32>) -> io::Result<()> {
    // Private until it has the mode of the old file.
    let mode = if kept.is_some() { PRIVATE } else { mode };
    // `create_new` follows no link and takes no file that someone else has put there.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    if let Some(kept) = kept {
        file.set_permissions(fs::Permissions::from_mode(kept))?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Removes a file if it still has these bytes. Returns whether it is gone.
///
/// # Errors
/// The system refuses.
pub(crate) fn remove_if(path: &Path, sha256_of_bytes: &str) -> io::Result<bool> {
    match read(path)? {
        None => Ok(true),
        Some(bytes) if sha256(&bytes) == sha256_of_bytes => fs::remove_file(path).map(|()| true),
        Some(_) => Ok(false),
    }
}

/// Removes a file or a directory with all that is in it. A link itself is removed, not what it leads to.
///
/// # Errors
/// The system refuses.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

/// Removes directories that are empty, the innermost last in the list.
pub(crate) fn remove_empty(directories: &[PathBuf]) {
    for directory in directories.iter().rev() {
        // A directory that is in use stays.
        let _ = fs::remove_dir(directory);
    }
}

/// Lists the names in a directory, sorted. A directory that does not exist has none.
///
/// # Errors
/// The system refuses.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
