//! Checks whether the host can record calls now: its state directory, the audit log and the ledger.

use crate::approvals::ApprovalError;
use crate::audit::AuditError;
use crate::host::Host;
use crate::inner::HostState;
use crate::ledger_standing::Anchoring;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use std::io::{self, Write};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The files of the audit log, in the state directory.
const AUDIT_LOG: &str = "audit.jsonl";
const AUDIT_HEAD: &str = "audit.head";

/// Length of what the check writes and removes again, in bytes: a block of most file systems. A full disk has no room
/// for it.
const TEST_BYTES: usize = 4096;

/// Why the host cannot record calls. It refuses them then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageFault {
    /// The state directory cannot be written, for example because the disk is full.
    #[error("the state directory cannot be written")]
    Directory(#[source] io::Error),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The audit log was removed or cut while the host had it open, or its end is not what the host wrote.
    #[error("the audit log was removed, cut or changed: run `portcullis audit verify`")]
    AuditDamaged,
    /// The audit log is not the one that was anchored in the shared ledger: it was replaced, or another host has the
    /// same state directory.
    #[error("{0}")]
    OtherLog(String),
    /// The ledger cannot be used.
    #[error("the ledger cannot be read")]
    Ledger(#[source] ApprovalError),
}

impl Host {
    /// Checks whether calls can be recorded now. Writes a small file into the state directory and removes it. Reads the
    /// head of the audit log and the open requests of the ledger, and checks no other entry.
    ///
    /// # Errors
    /// Calls cannot be recorded, so the host refuses them.
    pub async fn check_storage(&self) -> Result<(), StorageFault> {
        let host = Arc::clone(&self.0);
        let checked = spawn_blocking(move || check_files(&host)).await;
        checked.unwrap_or_else(|error| Err(StorageFault::Directory(io::Error::other(error))))?;
        if let Anchoring::OtherLog(why) = &self.0.storage.ledger.borrow().anchoring {
            return Err(StorageFault::OtherLog(why.clone()));
        }
        self.approvals().list().await.map(drop).map_err(StorageFault::Ledger)
    }
}

fn check_files(host: &HostState) -> Result<(), StorageFault> {
    let directory = &host.state.directory;
    try_to_write(directory).map_err(StorageFault::Directory)?;
    if host.storage.is_damaged() {
        return Err(StorageFault::AuditDamaged);
    }
    let length = |name| match directory.metadata(name) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StorageFault::AuditDamaged),
        Err(error) => Err(AuditError::Io(error).into()),
    };
    length(AUDIT_HEAD)?;
    if !host.storage.has_only_grown(length(AUDIT_LOG)?) {
        return Err(StorageFault::AuditDamaged);
    }
    // Reading the mark also checks that this host wrote the head.
    Ok(host.audit.ledger_mark().map(drop)?)
}

/// Writes a file and removes it. Checks of other hosts may use the file at the same time: several hosts of a process,
/// or of containers in which processes have the same ids.
fn try_to_write(directory: &Dir) -> io::Result<()> {
    let name = format!("write-test.{}", std::process::id());
    // Remove the file that a killed process with the same id may have left, because writing to it needs no more room.
    let _ = directory.remove_file(&name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).follow(FollowSymlinks::No);
    let written = directory.open_with(&name, &options).and_then(|mut file| file.write_all(&[0; TEST_BYTES]));
    match directory.remove_file(&name) {
        // Another check has removed it, which does not keep this one from writing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => written,
        removed => written.and(removed),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directory that it opens")]
mod tests {
    use super::*;
    use std::fs;
    use std::thread;

    #[test]
    fn checks_at_the_same_time_do_not_disturb_each_other() {
        let path = std::env::temp_dir().join(format!("portcullis-write-test-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let directory = Dir::open_ambient_dir(&path, cap_std::ambient_authority()).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..200).for_each(|_| try_to_write(&directory).unwrap()));
            }
        });
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        // What keeps the file from being written is still a fault.
        fs::create_dir(path.join(format!("write-test.{}", std::process::id()))).unwrap();
        assert!(try_to_write(&directory).is_err());
        fs::remove_dir_all(path).unwrap();
    }
}
