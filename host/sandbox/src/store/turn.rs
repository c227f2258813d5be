//! Turns to compile: of several processes that need the code of a plugin, one compiles it while the others wait.

use super::{CodeStore, Entry, UNFINISHED, file_name};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::io;

/// The turn of this process to compile a plugin. It ends when it is dropped, or when the process ends.
#[derive(Debug)]
pub struct CompileTurn {
    directory: Dir,
    name: String,
    _locked: std::fs::File,
}

impl CodeStore {
    /// Takes the turn to compile a plugin. Returns `None` if it is that of another process, or of another store of this
    /// one.
    ///
    /// # Errors
    /// The system refuses. The turn is optional: without it, two processes may do the same work.
    pub fn try_turn(&self, plugin: &[u8; 32]) -> io::Result<Option<CompileTurn>> {
        // Named as what is unfinished, so that the file of a dead process is removed with such files.
        let name = format!("{}.turn{UNFINISHED}", file_name(Entry::Code, &self.id(Entry::Code, plugin)));
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(0o600).follow(FollowSymlinks::No).nonblock(true);
        loop {
            let file = self.directory.open_with(&name, &options)?.into_std();
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Ok(None),
                locked => locked?,
            }
            // Its last owner may have removed it before it was locked.
            if rustix::fs::fstat(&file)?.st_nlink > 0 {
                return Ok(Some(CompileTurn { directory: self.directory.try_clone()?, name, _locked: file }));
            }
        }
    }
}

impl Drop for CompileTurn {
    fn drop(&mut self) {
        // While it is locked, so that no other process uses a file that is then removed.
        let _ = self.directory.remove_file(&self.name);
    }
}
