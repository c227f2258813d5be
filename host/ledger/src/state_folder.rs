//! A folder of the state directory with small files, each of which is written as a whole.

use crate::private_folder;
use crate::state_directory::{HostDirectories, PlaceError};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use portcullis_definitions::text::hex;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A folder of the state directory.
pub(crate) struct StateFolder {
    pub(crate) directory: Dir,
    path: PathBuf,
}

impl StateFolder {
    /// Opens a folder. Creates it if it does not exist. `what` names it in an error.
    pub(crate) fn open(state: &HostDirectories, name: &str, what: &'static str) -> Result<Self, PlaceError> {
        let path = state.path.join(name);
        let failed = |source| PlaceError::Io { what, path: path.clone(), source };
        let directory = private_folder::open(&state.directory, name).map_err(failed)?;
        Ok(Self { directory, path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes of a file, at most one more than `bytes_max`. `None` if there is none.
    pub(crate) fn read(&self, file: &str, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        let mut options = OpenOptions::new();
        // Without `nonblock`, opening a FIFO in the place of the file would block forever.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = match self.directory.open_with(file, &options) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes a file, in place of the one before.
    pub(crate) fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.place(file, bytes, |temporary| self.directory.rename(temporary, &self.directory, file))
    }

    /// Writes a file if there is none yet.
    pub(crate) fn keep_first(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.place(file, bytes, |temporary| {
            // A link fails if the name exists, where a rename would replace the file of a faster host.
            let linked = self.directory.hard_link(temporary, &self.directory, file);
            self.directory.remove_file(temporary)?;
            match linked {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                Ok(()) | Err(_) => Ok(()),
            }
        })
    }

    /// Writes a file under a temporary name, and gives it its place.
    fn place(&self, file: &str, bytes: &[u8], place: impl FnOnce(&str) -> io::Result<()>) -> io::Result<()> {
        let mut suffix = [0_u8; 16];
        getrandom::fill(&mut suffix).map_err(io::Error::other)?;
        let temporary = format!("{file}.{}.new", hex(&suffix));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut written = self.directory.open_with(&temporary, &options)?;
        // Sync first, so that the name never stands for a part of the file after a crash of the machine.
        let placed = written.write_all(bytes).and_then(|()| written.sync_all()).and_then(|()| place(&temporary));
        if placed.is_err() {
            // The first error counts, and the file may be gone already.
            let _ = self.directory.remove_file(&temporary);
        }
        placed
    }
}
