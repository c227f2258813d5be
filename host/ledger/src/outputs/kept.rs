//! The kept outputs of a ledger: access for their readers, and removal.

use super::cursor::OutputLines;
use super::error::OutputError;
use super::layout::is_id;
use super::needs::OutputNeeds;
use super::place::{ContentReader, OutputPlace};
use super::shared::SharedParts;
use crate::ledger::{CallLedger, Durable, LedgerChange, LedgerError, LedgerUsers, OutputRoom, OutputRow, Owner};
use crate::state_directory::HostDirectories;
use crate::timestamp::Timestamp;
use portcullis_definitions::text::sha256;
use portcullis_policy::Principal;
use portcullis_policy::recovery::RecoverMutex;
use serde::Serialize;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Default maximum size of all outputs of a ledger, in bytes. Eight of the largest outputs that a call leaves
/// by default fit. It is little compared to a disk.
pub const OUTPUTS_BYTES_DEFAULT: u64 = 512 * 1024 * 1024;

/// Maximum number of outputs. More files in one directory are slow to list, and a model only needs the last few.
const OUTPUTS_MAX: i64 = 4096;

/// The divisor of the quota for one session: a half. Other sessions keep their outputs, however much one writes.
const SESSION_SHARE: u64 = 2;

/// How long an output is kept. A conversation that was not continued for a month has ended.
pub(super) const KEPT_TIME: Duration = Duration::from_hours(30 * 24);

/// How often a host of a shared ledger removes outdated outputs while it runs. Outputs are kept for days.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

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

/// The kept outputs of a ledger, for their readers. Clones share them.
#[derive(Clone)]
pub struct Outputs(pub(super) Arc<OutputShelf>);

pub(super) struct OutputShelf {
    pub(super) ledger: Arc<CallLedger>,
    pub(super) place: OutputPlace,
    pub(super) room: OutputRoom,
    /// When this process last removed outdated outputs.
    pub(super) swept: Mutex<Instant>,
    /// This process as an owner, from its first output on.
    owner: Mutex<Option<Arc<Owner>>>,
}

impl std::fmt::Debug for Outputs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Outputs").field("room", &self.0.room).finish_non_exhaustive()
    }
}

/// The kept outputs of a ledger, for the host that keeps and removes them. Clones share them.
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
    /// Opens the outputs of a ledger. Removes outputs that were never finished and those that are too old.
    ///
    /// # Errors
    /// The place of the outputs or the ledger cannot be used.
    pub fn open(state: &HostDirectories, ledger: &Arc<CallLedger>, bytes: u64) -> Result<Self, OutputError> {
        let place = match ledger.users() {
            LedgerUsers::OneDirectory => OutputPlace::files(&state.directory)?,
            LedgerUsers::ManyDirectories => {
                OutputPlace::Shared(Arc::new(SharedParts::open(state.outputs.as_ref(), ledger)?))
            }
        };
        let room =
            OutputRoom { bytes: signed(bytes), session_bytes: signed(bytes / SESSION_SHARE), outputs: OUTPUTS_MAX };
        let (ledger, swept) = (Arc::clone(ledger), Mutex::new(Instant::now()));
        let outputs = Outputs(Arc::new(OutputShelf { ledger, place, room, swept, owner: Mutex::new(None) }));
        // Name the place, which the error of the system does not.
        match (outputs.sweep(), &state.outputs) {
            (Err(OutputError::Io(error)), Some(home)) => {
                Err(OutputError::Place { place: home.address(), why: error.to_string() })
            }
            (swept, _) => swept.map(|()| Self { outputs }),
        }
    }

    /// Opens an output to read it line by line.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn lines(&self, reader: Reader<'_>, id: &str) -> Result<(KeptOutput, OutputLines), OutputError> {
        let (row, hashes) = self.row(reader, id)?;
        let lines = OutputLines::new(self.content(&row, hashes)?, &row.marks);
        Ok((kept(row), lines))
    }

    /// Returns what a process needs to reach the place of shared outputs, besides a directory.
    pub fn needs(&self) -> OutputNeeds {
        match &self.0.place {
            OutputPlace::Files(_) => OutputNeeds::default(),
            OutputPlace::Shared(parts) => parts.needs.clone(),
        }
    }

    /// Removes the outputs of a call whose answer is withheld.
    ///
    /// # Errors
    /// The ledger cannot be changed.
    pub fn withdraw(&self, call: &str) -> Result<(), LedgerError> {
        // Look first. Most calls keep nothing, and a change waits for other writers.
        if self.0.ledger.look(|change| change.outputs_of_call(call))?.is_empty() {
            return Ok(());
        }
        let forgotten = self.0.ledger.change(Durable::Process, |change| {
            let forgotten = change.outputs_of_call(call)?;
            forgotten.iter().try_for_each(|id| change.forget_output(id))?;
            Ok::<_, LedgerError>(forgotten)
        })?;
        self.0.place.remove(&forgotten);
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
        let rows = self.0.ledger.look(|change| match &self.0.place {
            OutputPlace::Files(_) => change.outputs(&session, &principal),
            OutputPlace::Shared(_) => change.sealed_outputs(&session, &principal),
        })?;
        Ok(rows.into_iter().map(kept).collect())
    }

    /// Returns one output.
    ///
    /// # Errors
    /// There is none, or the ledger cannot be read.
    pub fn get(&self, reader: Reader<'_>, id: &str) -> Result<KeptOutput, OutputError> {
        self.row(reader, id).map(|(row, _)| kept(row))
    }

    /// Reads at most `bytes_max` bytes of an output from `offset` on. Returns no bytes if the output ends before.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(&self, reader: Reader<'_>, id: &str, offset: u64, bytes_max: usize) -> Result<Vec<u8>, OutputError> {
        let (row, hashes) = self.row(reader, id)?;
        let mut content = self.content(&row, hashes)?;
        let left = unsigned(row.bytes).saturating_sub(offset).min(bytes_max as u64);
        let mut bytes = Vec::new();
        if left > 0 {
            content.seek(SeekFrom::Start(offset))?;
            content.take(left).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Returns the row of an output, and the digests of its parts if it has parts.
    fn row(&self, reader: Reader<'_>, id: &str) -> Result<(OutputRow, Vec<u8>), OutputError> {
        // The id is a caller's text, so the error has only its beginning, on one line.
        let unknown = || {
            OutputError::Unknown(
                portcullis_definitions::text::OneLine(portcullis_definitions::text::cut(id, 64)).to_string(),
            )
        };
        if !is_id(id) {
            return Err(unknown());
        }
        let (session, principal) = reader.names();
        let found = self.0.ledger.look(|change| match &self.0.place {
            OutputPlace::Files(_) => Ok(change.output(&session, &principal, id)?.map(|row| (row, Vec::new()))),
            OutputPlace::Shared(_) => change.sealed_output(&session, &principal, id),
        });
        match found {
            Err(LedgerError::Seal(id)) => Err(OutputError::Changed(id)),
            found => found?.ok_or_else(unknown),
        }
    }

    fn content(&self, row: &OutputRow, hashes: Vec<u8>) -> Result<ContentReader, OutputError> {
        self.0.place.open(&self.0.ledger, &row.id, unsigned(row.bytes), hashes)
    }

    pub(super) fn change<T, E: From<LedgerError>>(
        &self,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.ledger.change(Durable::Process, work)
    }

    /// Removes outdated outputs from time to time, if hosts share them. Hosts of one state directory do it when they
    /// open, and a service of many hosts may run for months.
    pub(super) fn sweep_sometimes(&self) {
        let is_due = match self.0.place {
            OutputPlace::Files(_) => false,
            OutputPlace::Shared(_) => {
                let mut swept = self.0.swept.lock_recovered();
                let is_due = swept.elapsed() >= SWEEP_INTERVAL;
                // Note the time before the sweep, so that no other call begins one meanwhile.
                if is_due {
                    *swept = Instant::now();
                }
                is_due
            }
        };
        if is_due {
            // If it fails, the output that is about to begin fails too, or the next sweep succeeds.
            let _ = self.sweep();
        }
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
