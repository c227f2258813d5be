//! File locks that keep the order of a session among several processes on one state directory. They are taken after the
//! order in memory.
//!
//! Unlike that order, they have no queue. A call that has to run alone waits until no call of another process holds the
//! file, so it can wait for long while such calls overlap all the time.

use super::runs::Runs;
use crate::text::sha256;
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use portcullis_policy::Principal;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;

/// The directory of the lock files, in the state directory.
const LOCKS_DIRECTORY: &str = "order";

/// Hexadecimal digits of a lock file's name. Sessions share 256 files, so that none has to be removed. Two sessions on
/// one file only wait for each other.
const NAME_DIGITS: usize = 2;

/// The first and the maximum pause between two attempts to take a lock.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// The lock files of a state directory.
pub(super) struct OrderFiles(Arc<Dir>);

/// A locked file. The lock ends when it is dropped.
#[derive(Debug)]
pub(super) struct OrderFile {
    _file: File,
}

impl OrderFiles {
    pub(super) fn open(state: &Dir) -> io::Result<Self> {
        match state.create_dir(LOCKS_DIRECTORY) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        Ok(Self(Arc::new(state.open_dir_nofollow(LOCKS_DIRECTORY)?)))
    }

    /// Waits until the call may run with those of other processes. It polls, because a thread that blocks on a file
    /// lock cannot be stopped.
    pub(super) async fn take(&self, (principal, session): (&Principal, &str), runs: Runs) -> io::Result<OrderFile> {
        // The caller chooses the session's name, so only a digest of it becomes part of a file's name.
        let digest = sha256(format!("{}\0{session}", principal.as_str()));
        let (directory, name) = (Arc::clone(&self.0), digest.get(..NAME_DIGITS).unwrap_or_default().to_owned());
        let file = spawn_blocking(move || open(&directory, &name)).await.map_err(io::Error::other)??;
        let operation = match runs {
            Runs::BesideOthers => FlockOperation::NonBlockingLockShared,
            Runs::Alone => FlockOperation::NonBlockingLockExclusive,
        };
        let mut pause = FIRST_PAUSE;
        loop {
            match flock(&file, operation) {
                Ok(()) => return Ok(OrderFile { _file: file }),
                Err(Errno::WOULDBLOCK | Errno::INTR) => tokio::time::sleep(pause).await,
                Err(error) => return Err(error.into()),
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

/// Opens a lock file, and creates it if it does not exist.
fn open(directory: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600).follow(FollowSymlinks::No).nonblock(true);
    Ok(directory.open_with(name, &options)?.into_std())
}
