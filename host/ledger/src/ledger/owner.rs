//! The process that runs a call or waits for an answer. A process holds a lock on its own file. The system releases the
//! lock however the process ends, so a free lock means that the process no longer waits.

use crate::private_folder;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use portcullis_definitions::text::hex;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;

/// The directory of the lock files, in the state directory.
const OWNERS_DIRECTORY: &str = "owners";

/// The start-up lock file. No process has this name.
const BEGIN_FILE: &str = "begin";

/// How long a lease holds, in milliseconds. A person waits that long until another host can run the call of a dead one.
/// After a time without any host, none is taken for dead for as long: each must have had time to renew its lease.
pub(super) const LEASE_MILLISECONDS: i64 = 30_000;

/// After how long without any renewal the database was out of reach for all hosts, in milliseconds. Their leases then
/// say nothing until each had time to renew its own. Three renewals are missing by then.
pub(super) const CONTACT_GAP_MILLISECONDS: i64 = 15_000;

/// The condition of a row of `host` whose process runs, as far as leases tell. Its values are those of [`lease_times`].
/// After hosts could not reach the database, also because it was stopped, leases tell nothing until each host had time
/// to renew its own. That time begins when the gap is noted, so leases tell nothing before it is.
pub(super) const IS_LEASED: &str = "(alive_until > ?1 \
                                    OR (SELECT since > ?2 OR (heard_at < ?3 AND since <= heard_at) FROM contact))";

/// Maximum files that a process checks when it starts. That takes a tenth of a second.
const LEFTOVERS_MAX: usize = 10_000;

/// The identity of this process in the ledger.
pub struct Owner {
    id: String,
    directory: Dir,
    /// The file is locked as long as it is open.
    _lock: File,
    /// What tells other machines that this process runs.
    _lease: Option<Lease>,
}

/// Tells other machines that a process runs, until it is dropped.
pub(super) struct Lease(#[expect(dead_code, reason = "dropping it ends the lease")] pub(super) Box<dyn Send + Sync>);

/// Returns the values of [`IS_LEASED`]: the present, the present less a lease, and the present less a gap.
pub(super) fn lease_times(now: i64) -> [i64; 3] {
    [now, now - LEASE_MILLISECONDS, now - CONTACT_GAP_MILLISECONDS]
}

/// The lock files of the processes of one state directory.
pub(super) struct LocalOwners(Dir);

impl LocalOwners {
    /// Opens the directory of the lock files.
    pub(super) fn open(state: &Dir) -> io::Result<Self> {
        directory(state).map(Self)
    }

    /// Returns whether a process of this state directory runs. `None` if it has no lock file here. Returns true on
    /// errors, so that nothing of a running process is taken over.
    pub(super) fn is_alive(&self, owner: &str) -> Option<bool> {
        is_alive(&self.0, owner)
    }
}

impl Owner {
    /// Registers this process. Returns the names of dead processes too, whose files are removed.
    pub(super) fn new(LocalOwners(directory): &LocalOwners) -> io::Result<(Self, Vec<String>)> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let id = hex(&bytes);
        // Hold the start-up lock until this process has locked its own file. Otherwise another process could remove the
        // file as a leftover.
        let _alone = alone(directory)?;
        let dead = remove_dead(directory);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let lock = directory.open_with(&id, &options)?.into_std();
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok((Self { id, directory: directory.try_clone()?, _lock: lock, _lease: None }, dead))
    }

    /// Returns the owner with a lease that ends with it.
    pub(super) fn with(mut self, lease: Option<Lease>) -> Self {
        self._lease = lease;
        self
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
    private_folder::open(state, OWNERS_DIRECTORY)
}

/// Takes the start-up lock. It is held until the returned file is dropped.
pub(super) fn alone(owners: &Dir) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    let lock = owners.open_with(BEGIN_FILE, &options)?.into_std();
    flock(&lock, FlockOperation::LockExclusive)?;
    Ok(lock)
}

/// Removes the files that dead processes left behind, and returns their names. A file that cannot be removed is left
/// for the next process.
fn remove_dead(owners: &Dir) -> Vec<String> {
    let Ok(entries) = owners.entries() else { return Vec::new() };
    let names = entries.flatten().take(LEFTOVERS_MAX).filter_map(|entry| entry.file_name().into_string().ok());
    let dead: Vec<_> = names.filter(|name| is_alive(owners, name) == Some(false)).collect();
    for name in &dead {
        let _ = owners.remove_file(name);
    }
    dead
}

/// Returns whether a process holds the lock. `None` if there is no such file, or if this is no name of a process.
/// Returns true on errors, so that nothing of a running process is taken over.
fn is_alive(owners: &Dir, owner: &str) -> Option<bool> {
    // A name consists of hexadecimal digits, so it is never a path.
    if owner.len() != 32 || !owner.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let file = match owners.open(owner) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => return Some(true),
    };
    // Use a shared lock, so that two processes that check at the same time do not mistake each other for the owner.
    Some(flock(&file, FlockOperation::NonBlockingLockShared).is_err())
}
