//! The kept outputs of a state directory: access for their readers, and removal.

use super::cursor::OutputLines;
use crate::ledger::{CallLedger, Durable, LedgerChange, LedgerError, OutputRoom, OutputRow, Owner};
use crate::state_directory::HostDirectories;
use crate::timestamp::Timestamp;
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, File, OpenOptions};
use portcullis_definitions::text::{hex, sha256};
use portcullis_policy::Principal;
use portcullis_policy::recovery::RecoverMutex;
use serde::Serialize;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The directory of the files, in the state directory.
const OUTPUTS_DIRECTORY: &str = "outputs";

/// Default maximum size of all outputs of a state directory, in bytes. Eight of the largest outputs that a call leaves
/// by default fit. It is little compared to a disk.
pub const OUTPUTS_BYTES_DEFAULT: u64 = 512 * 1024 * 1024;

/// Maximum number of outputs. More files in one directory are slow to list, and a model only needs the last few.
const OUTPUTS_MAX: i64 = 4096;

/// The divisor of the quota for one session: a half. Other sessions keep their outputs, however much one writes.
const SESSION_SHARE: u64 = 2;

/// How long an output is kept. A conversation that was not continued for a month has ended.
pub(super) const KEPT_TIME: Duration = Duration::from_hours(30 * 24);

/// Maximum length of a session's name in the ledger, in bytes. A longer name is replaced with its digest.
const SESSION_BYTES_MAX: usize = 128;

/// A reference to a kept output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// The reference id, 128 random bits in hexadecimal.
    pub id: String,
    /// The size of the output, in bytes.
    pub bytes: u64,
    /// The number of lines, if the output is text.
    pub lines: Option<u64>,
    /// The media type: `text/plain`, `application/json`, or the one that the tool gave for a part.
    pub media_type: String,
    /// Whether the output is complete. It is not if the tool was stopped or failed while it wrote.
    pub complete: bool,
}

/// A kept output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptOutput {
    /// The reference, with the type and the size.
    pub reference: Reference,
    /// The id of the call whose answer it is.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The file name, if the tool gave one. Untrusted text.
    pub name: Option<String>,
    /// When it was kept.
    pub kept_at: Timestamp,
}

/// The reader of outputs. An output can only be read by the session and principal of its call.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The session.
    pub session: &'a str,
    /// The principal.
    pub principal: &'a Principal,
}

/// The error for an output that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The reader has no output with this id. It never existed, belongs to another session or principal, or was
    /// removed.
    #[error("there is no output {0}: it was never kept, or was removed to make room. Call the tool again")]
    Unknown(String),
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The file cannot be read.
    #[error("the output cannot be read")]
    Io(#[from] io::Error),
}

/// The kept outputs of a state directory, for their readers. Clones share them.
#[derive(Clone)]
pub struct Outputs(pub(super) Arc<OutputShelf>);

pub(super) struct OutputShelf {
    pub(super) ledger: Arc<CallLedger>,
    pub(super) directory: Dir,
    pub(super) room: OutputRoom,
    /// This process as an owner, from its first output on.
    owner: Mutex<Option<Arc<Owner>>>,
}

impl std::fmt::Debug for Outputs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Outputs").field("room", &self.0.room).finish_non_exhaustive()
    }
}

/// The kept outputs of a state directory, for the host that keeps and removes them. Clones share them.
#[derive(Clone, Debug)]
pub struct OutputKeeper {
    pub(super) outputs: Outputs,
}

impl Deref for OutputKeeper {
    type Target = Outputs;

    fn deref(&self) -> &Outputs {
        &self.outputs
    }
}

impl OutputKeeper {
    /// Opens the outputs of a state directory. Removes outputs that were never finished and those that are too old.
    ///
    /// # Errors
    /// The directory or the ledger cannot be used.
    pub fn open(state: &HostDirectories, ledger: &Arc<CallLedger>, bytes: u64) -> Result<Self, OutputError> {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        match state.directory.create_dir_with(OUTPUTS_DIRECTORY, &builder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        let directory = state.directory.open_dir_nofollow(OUTPUTS_DIRECTORY)?;
        let room =
            OutputRoom { bytes: signed(bytes), session_bytes: signed(bytes / SESSION_SHARE), outputs: OUTPUTS_MAX };
        // The files are on this machine, so their index is too.
        let ledger =
            if state.shares_ledger() { Arc::new(CallLedger::open(&state.own()?)?) } else { Arc::clone(ledger) };
        let outputs = Outputs(Arc::new(OutputShelf { ledger, directory, room, owner: Mutex::new(None) }));
        outputs.sweep()?;
        Ok(Self { outputs })
    }

    /// Opens an output to read it line by line.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn lines(&self, reader: Reader<'_>, id: &str) -> Result<(KeptOutput, OutputLines), OutputError> {
        let row = self.row(reader, id)?;
        let lines = OutputLines::new(self.file(&row.id)?, &row.marks);
        Ok((kept(row), lines))
    }

    /// Removes the outputs of a call whose answer is withheld.
    ///
    /// # Errors
    /// The ledger cannot be changed.
    pub fn withdraw(&self, call: &str) -> Result<(), LedgerError> {
        if self.0.ledger.look(|change| change.outputs_of_call(call))?.is_empty() {
            return Ok(());
        }
        let forgotten = self.0.ledger.change(Durable::Process, |change| {
            let forgotten = change.outputs_of_call(call)?;
            forgotten.iter().try_for_each(|id| change.forget_output(id))?;
            Ok::<_, LedgerError>(forgotten)
        })?;
        self.remove(&forgotten);
        Ok(())
    }
}

impl Outputs {
    /// Returns the outputs that the reader may read, newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn list(&self, reader: Reader<'_>) -> Result<Vec<KeptOutput>, OutputError> {
        let (session, principal) = reader.names();
        let rows = self.0.ledger.look(|change| change.outputs(&session, &principal))?;
        Ok(rows.into_iter().map(kept).collect())
    }

    /// Returns one output.
    ///
    /// # Errors
    /// There is none, or the ledger cannot be read.
    pub fn get(&self, reader: Reader<'_>, id: &str) -> Result<KeptOutput, OutputError> {
        self.row(reader, id).map(kept)
    }

    /// Reads at most `bytes_max` bytes of an output from `offset` on. Returns no bytes if the output ends before.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(&self, reader: Reader<'_>, id: &str, offset: u64, bytes_max: usize) -> Result<Vec<u8>, OutputError> {
        let row = self.row(reader, id)?;
        let mut file = self.file(&row.id)?;
        let left = unsigned(row.bytes).saturating_sub(offset).min(bytes_max as u64);
        let mut bytes = Vec::new();
        if left > 0 {
            file.seek(SeekFrom::Start(offset))?;
            file.take(left).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    fn row(&self, reader: Reader<'_>, id: &str) -> Result<OutputRow, OutputError> {
        let unknown = || {
            OutputError::Unknown(
                portcullis_definitions::text::OneLine(portcullis_definitions::text::cut(id, 64)).to_string(),
            )
        };
        if !is_id(id) {
            return Err(unknown());
        }
        let (session, principal) = reader.names();
        self.0.ledger.look(|change| change.output(&session, &principal, id))?.ok_or_else(unknown)
    }

    fn file(&self, id: &str) -> Result<File, OutputError> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        self.0.directory.open_with(id, &options).map_err(|error| match error.kind() {
            // The output was removed after the ledger was read.
            io::ErrorKind::NotFound => OutputError::Unknown(id.to_owned()),
            _ => error.into(),
        })
    }

    /// Removes the files of deleted rows. A file that cannot be removed is swept when the next host opens.
    pub(super) fn remove(&self, ids: &[String]) {
        for id in ids {
            let _ = self.0.directory.remove_file(id);
        }
    }

    pub(super) fn change<T, E: From<LedgerError>>(
        &self,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.ledger.change(Durable::Process, work)
    }

    /// Returns this process as an owner in the ledger.
    pub(super) fn owner(&self) -> Result<Arc<Owner>, LedgerError> {
        let mut held = self.0.owner.lock_recovered();
        if let Some(owner) = &*held {
            return Ok(Arc::clone(owner));
        }
        let owner = Arc::new(self.0.ledger.owner()?);
        *held = Some(Arc::clone(&owner));
        Ok(owner)
    }
}

impl Reader<'_> {
    /// Returns the names of the session and the principal in the ledger.
    fn names(&self) -> (String, String) {
        (session_name(self.session), self.principal.to_string())
    }
}

/// Returns the name of a session in the ledger.
pub fn session_name(session: &str) -> String {
    if session.len() <= SESSION_BYTES_MAX {
        return session.to_owned();
    }
    format!("sha256:{}", sha256(session.as_bytes()))
}

/// Returns whether a text has the form of an output id, so that it is never a path.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

pub(super) fn new_id() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex(&bytes))
}

fn kept(row: OutputRow) -> KeptOutput {
    KeptOutput {
        reference: Reference {
            id: row.id,
            bytes: unsigned(row.bytes),
            lines: row.lines.map(unsigned),
            media_type: row.media_type,
            complete: row.complete,
        },
        call: row.call,
        tool: row.tool,
        name: row.name,
        kept_at: Timestamp::from_row(row.kept_at),
    }
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
