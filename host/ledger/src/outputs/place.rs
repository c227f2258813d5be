//! Where the content of outputs is: a file for each in the state directory, or parts that many hosts share.

use super::error::OutputError;
use super::layout::ids_in;
use super::shared::{PartsReader, PartsWriter, SharedParts};
use crate::ledger::{CallLedger, LedgerChange, LedgerError};
use crate::private_folder;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

/// The directory of the files, in the state directory.
const OUTPUTS_DIRECTORY: &str = "outputs";

/// Minimum room that a growing output reserves ahead among shared outputs, in bytes. Every reservation is a transaction
/// for which other hosts wait.
const SHARED_AHEAD_BYTES_MIN: u64 = 256 * 1024;

/// Where the content of outputs is.
pub(super) enum OutputPlace {
    /// In files of a directory that only the hosts of one state directory use.
    Files(Dir),
    /// In the database of the ledger, and possibly in a place for what is large.
    Shared(Arc<SharedParts>),
}

/// Where the content of an output goes while it is written.
pub(super) enum ContentWriter {
    File(File),
    Shared(PartsWriter),
}

/// The content of an output that is read.
pub(super) enum ContentReader {
    File(File),
    Shared(PartsReader),
}

impl OutputPlace {
    /// Opens the directory of the files. Creates it if it does not exist.
    pub(super) fn files(state: &Dir) -> io::Result<Self> {
        private_folder::open(state, OUTPUTS_DIRECTORY).map(Self::Files)
    }

    /// Returns the minimum room that a growing output reserves ahead, in bytes.
    pub(super) fn ahead_bytes_min(&self) -> u64 {
        match self {
            Self::Files(_) => 0,
            Self::Shared(_) => SHARED_AHEAD_BYTES_MIN,
        }
    }

    /// Begins the content of an output whose row is written.
    pub(super) fn begin(&self, id: &str) -> io::Result<ContentWriter> {
        match self {
            Self::Files(directory) => {
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(0o600);
                Ok(ContentWriter::File(directory.open_with(id, &options)?))
            }
            Self::Shared(parts) => Ok(ContentWriter::Shared(PartsWriter::new(Arc::clone(parts), id))),
        }
    }

    /// Opens the content of an output. `hashes` are the digests of its parts, if it has parts.
    pub(super) fn open(
        &self,
        ledger: &Arc<CallLedger>,
        id: &str,
        bytes: u64,
        hashes: Vec<u8>,
    ) -> Result<ContentReader, OutputError> {
        let directory = match self {
            Self::Files(directory) => directory,
            Self::Shared(parts) => {
                let reader = PartsReader::new(Arc::clone(parts), Arc::clone(ledger), id, bytes, hashes);
                return Ok(ContentReader::Shared(reader));
            }
        };
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        let file = directory.open_with(id, &options).map_err(|error| match error.kind() {
            // The output was removed after the ledger was read.
            io::ErrorKind::NotFound => OutputError::Unknown(id.to_owned()),
            _ => error.into(),
        })?;
        Ok(ContentReader::File(file))
    }

    /// Removes the content of deleted rows. What cannot be removed is swept later.
    pub(super) fn remove(&self, ids: &[String]) {
        for id in ids {
            match self {
                Self::Files(directory) => drop(directory.remove_file(id)),
                Self::Shared(parts) => parts.remove(id),
            }
        }
    }

    /// Returns the outputs that have content outside of the ledger. Other names are ignored.
    pub(super) fn listed(&self) -> io::Result<BTreeSet<String>> {
        match self {
            Self::Files(directory) => ids_in(directory),
            Self::Shared(parts) => parts.listed(),
        }
    }
}

impl ContentWriter {
    /// Appends a piece. If that fails, the content has the `before` bytes that it had.
    pub(super) fn append(&mut self, ledger: &CallLedger, piece: &[u8], before: u64) -> Result<(), LedgerError> {
        let file = match self {
            Self::File(file) => file,
            Self::Shared(parts) => return parts.append(ledger, piece),
        };
        let written = file.write_all(piece);
        if written.is_err() {
            // Part of the piece may have been written. Cut the file to the counted length.
            file.set_len(before)?;
        }
        Ok(written?)
    }

    /// Writes what is not written yet, as far as that does not belong into the change that finishes the output.
    pub(super) fn flush(&mut self) {
        match self {
            Self::File(_) => {}
            Self::Shared(parts) => parts.flush(),
        }
    }

    /// Adds to the change that finishes the output. Returns the digests that its seal has, if it has one.
    pub(super) fn finish<'w>(&'w self, change: &LedgerChange<'_>) -> Result<Option<&'w [u8]>, LedgerError> {
        match self {
            Self::File(_) => Ok(None),
            Self::Shared(parts) => parts.finish(change).map(Some),
        }
    }
}

impl Read for ContentReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Shared(parts) => parts.read(buffer),
        }
    }
}

impl Seek for ContentReader {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(position),
            Self::Shared(parts) => parts.seek(position),
        }
    }
}
