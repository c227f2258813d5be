//! The kept outputs of a state directory: who may read which, and taking them away.

use super::cursor::Lines;
use crate::ledger::{Change, Durable, Ledger, LedgerError, OutputRoom, OutputRow, Owner};
use crate::places::State;
use crate::text::{hex, sha256};
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, File, OpenOptions};
use jiff::Timestamp;
use portcullis_policy::Principal;
use serde::Serialize;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The directory of the files, in the state directory.
const OUTPUTS_DIRECTORY: &str = "outputs";

/// What all outputs of a state directory may take, in bytes, unless said otherwise: eight of the largest that a call
/// leaves by default, and little beside what else is on a disk.
pub const OUTPUTS_BYTES_DEFAULT: u64 = 512 * 1024 * 1024;

/// How many outputs there may be. More files in one directory are slow to list; a model looks back at the last few.
const OUTPUTS_MAX: i64 = 4096;

/// The part of the room that one session has at the most: the others keep theirs, however much it writes.
const SESSION_SHARE: u64 = 2;

/// How long an output is kept. A conversation that nobody went on with for a month is over.
pub(super) const KEPT_TIME: Duration = Duration::from_hours(30 * 24);

/// The longest session that stands in the ledger as it is, in bytes; a longer one stands as its digest.
const SESSION_BYTES_MAX: usize = 128;

/// Where the whole of an answer is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// The reference id, 128 random bits in hexadecimal.
    pub id: String,
    /// The size of what is kept, in bytes.
    pub bytes: u64,
    /// The lines of it, where it is text.
    pub lines: Option<u64>,
    /// Its media type: `text/plain`, `application/json`, or what a part of the answer says of itself.
    pub media_type: String,
    /// Whether all of it is there: not so where the tool was stopped because it wrote without end.
    pub complete: bool,
}

/// A kept output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptOutput {
    /// What it is and how large.
    pub reference: Reference,
    /// The call whose answer it is.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// When it was kept.
    pub kept_at: Timestamp,
}

/// Who reads: an output is there for the session and the principal of its call, and for no other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The session.
    pub session: &'a str,
    /// The principal.
    pub principal: &'a Principal,
}

/// Why an output cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There is none of this id that the reader may know of: it never was, it is another's, or it was trimmed.
    #[error("there is no output {0}: it was never kept, or is trimmed by now; call the tool again")]
    Unknown(String),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The file.
    #[error("the output cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// The kept outputs of a state directory. Clones share them.
#[derive(Clone)]
pub struct Outputs(pub(super) Arc<Shelf>);

pub(super) struct Shelf {
    pub(super) ledger: Arc<Ledger>,
    pub(super) directory: Dir,
    pub(super) room: OutputRoom,
    /// This process, from the first output on that it writes.
    owner: Mutex<Option<Arc<Owner>>>,
}

impl std::fmt::Debug for Outputs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Outputs").field("room", &self.0.room).finish_non_exhaustive()
    }
}

impl Outputs {
    /// Opens the outputs of a state directory, without those that nobody finished or that are out of date.
    ///
    /// # Errors
    /// The directory cannot be used, or the ledger not be read.
    pub(crate) fn open(state: &State, ledger: Arc<Ledger>, bytes: u64) -> Result<Self, OutputError> {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        match state.directory.create_dir_with(OUTPUTS_DIRECTORY, &builder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        let directory = state.directory.open_dir_nofollow(OUTPUTS_DIRECTORY)?;
        let room =
            OutputRoom { bytes: signed(bytes), session_bytes: signed(bytes / SESSION_SHARE), outputs: OUTPUTS_MAX };
        let outputs = Self(Arc::new(Shelf { ledger, directory, room, owner: Mutex::new(None) }));
        outputs.sweep()?;
        Ok(outputs)
    }

    /// What the reader may read, the newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn list(&self, reader: Reader<'_>) -> Result<Vec<KeptOutput>, OutputError> {
        let (session, principal) = reader.names();
        let rows = self.0.ledger.look(|change| change.outputs(&session, &principal))?;
        Ok(rows.into_iter().map(kept).collect())
    }

    /// One output.
    ///
    /// # Errors
    /// There is none, or the ledger cannot be read.
    pub fn get(&self, reader: Reader<'_>, id: &str) -> Result<KeptOutput, OutputError> {
        self.row(reader, id).map(kept)
    }

    /// At most `bytes_max` bytes of an output from `offset` on; none where it ends before.
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

    /// One output, to be read line by line.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub(crate) fn lines(&self, reader: Reader<'_>, id: &str) -> Result<(KeptOutput, Lines), OutputError> {
        let row = self.row(reader, id)?;
        let lines = Lines::new(self.file(&row.id)?, &row.marks);
        Ok((kept(row), lines))
    }

    /// Takes away what a call has left: its answer is withheld.
    ///
    /// # Errors
    /// The ledger cannot be changed.
    pub(crate) fn withdraw(&self, call: &str) -> Result<(), LedgerError> {
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

    fn row(&self, reader: Reader<'_>, id: &str) -> Result<OutputRow, OutputError> {
        let unknown = || OutputError::Unknown(crate::text::OneLine(crate::text::cut(id, 64)).to_string());
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
            // It was trimmed since the ledger was asked.
            io::ErrorKind::NotFound => OutputError::Unknown(id.to_owned()),
            _ => error.into(),
        })
    }

    /// Removes files whose rows are gone. One that stays behind is swept when the next host opens.
    pub(super) fn remove(&self, ids: &[String]) {
        for id in ids {
            let _ = self.0.directory.remove_file(id);
        }
    }

    pub(super) fn change<T, E: From<LedgerError>>(
        &self,
        work: impl FnOnce(&Change<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.ledger.change(Durable::Process, work)
    }

    /// This process, as the ledger knows it.
    pub(super) fn owner(&self) -> io::Result<Arc<Owner>> {
        let mut held = self.0.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = &*held {
            return Ok(Arc::clone(owner));
        }
        let owner = Arc::new(self.0.ledger.owner()?);
        *held = Some(Arc::clone(&owner));
        Ok(owner)
    }
}

impl Reader<'_> {
    /// The session and the principal as the ledger knows them.
    fn names(&self) -> (String, String) {
        (session_name(self.session), self.principal.to_string())
    }
}

/// A session as the ledger knows it.
pub(crate) fn session_name(session: &str) -> String {
    if session.len() <= SESSION_BYTES_MAX {
        return session.to_owned();
    }
    format!("sha256:{}", sha256(session.as_bytes()))
}

/// Whether a text is an id of this host's making, and so the name of no file elsewhere.
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
        kept_at: Timestamp::from_millisecond(row.kept_at).unwrap_or_default(),
    }
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
