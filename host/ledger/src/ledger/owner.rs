//! The process that runs a call or waits for an answer. A process holds a lock on its own file. The system releases the
//! lock however the process ends, so a free lock means that the process no longer waits.

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use portcullis_definitions::text::hex;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;

/// The directory of the lock files, in the state directory.
const OWNERS_DIRECTORY: &str = "owners";

/// The start-up lock file. No process has this name.
const BEGIN_FILE: &str = "begin";

/// Maximum files that a process checks when it starts. That takes a tenth of a second.
const LEFTOVERS_MAX: usize = 10_000;

/// The identity of this process in the ledger.
pub struct Owner {
    id: String,
    directory: Dir,
    /// The file is locked as long as it is open.
    _lock: File,
}

impl Owner {
    pub(super) fn new(directory: &Dir) -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let id = hex(&bytes);
        // Hold the start-up lock until this process has locked its own file. Otherwise another process could remove the
        // file as a leftover.
        let _alone = alone(directory)?;
        remove_dead(directory);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let lock = directory.open_with(&id, &options)?.into_std();
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { id, directory: directory.try_clone()?, _lock: lock })
    }

    /// Returns the name of the process in the ledger.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file that cannot be removed is unlocked, so the next process removes it.
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

/// Takes the start-up lock. It is held until the returned file is dropped.
pub(super) fn alone(owners: &Dir) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    let lock = owners.open_with(BEGIN_FILE, &options)?.into_std();
    flock(&lock, FlockOperation::LockExclusive)?;
    Ok(lock)
}

/// Removes the files that dead processes left behind. Files that cannot be removed are left for the next process.
fn remove_dead(owners: &Dir) {
    let Ok(entries) = owners.entries() else { return };
    for entry in entries.flatten().take(LEFTOVERS_MAX) {
        // `is_alive` removes the file of a dead process.
        let _ = is_alive(owners, &entry.file_name().to_string_lossy());
    }
}

/// Returns whether a process holds the lock. Returns true on errors, so that nothing of a running process is taken
/// over.
pub(super) fn is_alive(owners: &Dir, owner: &str) -> bool {
    // A name consists of hexadecimal digits, so it is never a path.
    if owner.len() != 32 || !owner.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return false;
    }
    let file = match owners.open(owner) {
        Ok(file) => file,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    // Use a shared lock, so that two processes that check at the same time do not mistake each other for the owner.
    if flock(&file, FlockOperation::NonBlockingLockShared).is_err() {
        return true;
    }
    drop(file);
    let _ = owners.remove_file(owner);
    false
}
