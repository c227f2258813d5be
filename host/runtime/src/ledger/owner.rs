//! The process that runs a call or waits for an answer. A process holds a lock on its own file. The system releases the
//! lock however the process ends, so a free lock means that the process no longer waits.

use crate::text::hex;
use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;

/// The directory of the lock files, in the state directory.
const OWNERS_DIRECTORY: &str = "owners";

/// The lock file of whoever begins, which is the name of no process.
const BEGIN_FILE: &str = "begin";

/// The most files that one process looks at when it begins, which takes it a tenth of a second.
const LEFTOVERS_MAX: usize = 10_000;

/// This process, as the ledger knows it.
pub(crate) struct Owner {
    id: String,
    directory: Dir,
    /// Locked as long as it is open.
    _lock: File,
}

impl Owner {
    pub(super) fn new(directory: &Dir) -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let id = hex(&bytes);
        // Held until this process has locked its file, so that no other takes the file for a leftover.
        let _alone = alone(directory)?;
        remove_dead(directory);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let lock = directory.open_with(&id, &options)?.into_std();
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { id, directory: directory.try_clone()?, _lock: lock })
    }

    /// How the ledger names it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file that stays behind is unlocked, and says so.
        let _ = self.directory.remove_file(&self.id);
    }
}

pub(super) fn directory(state: &Dir) -> io::Result<Dir> {
    match state.create_dir(OWNERS_DIRECTORY) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    state.open_dir_nofollow(OWNERS_DIRECTORY)
}

/// Waits until nobody else begins; others wait until what this returns is dropped.
pub(super) fn alone(owners: &Dir) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    let lock = owners.open_with(BEGIN_FILE, &options)?.into_std();
    flock(&lock, FlockOperation::LockExclusive)?;
    Ok(lock)
}

/// Removes the files that dead processes left. What cannot be removed is left for the next process.
fn remove_dead(owners: &Dir) {
    let Ok(entries) = owners.entries() else { return };
    for entry in entries.flatten().take(LEFTOVERS_MAX) {
        // A file that is looked at is removed, unless its process runs.
        let _ = is_alive(owners, &entry.file_name().to_string_lossy());
    }
}

/// Whether somebody holds the lock. Where it cannot be told, somebody does: nothing of theirs is then taken over.
pub(super) fn is_alive(owners: &Dir, owner: &str) -> bool {
    // A name is the digits of this host's making, never a path.
    if owner.len() != 32 || !owner.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return false;
    }
    let file = match owners.open(owner) {
        Ok(file) => file,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    // Shared, so that two who look at one time do not take each other for the owner.
    if flock(&file, FlockOperation::NonBlockingLockShared).is_err() {
        return true;
    }
    drop(file);
    let _ = owners.remove_file(owner);
    false
}
