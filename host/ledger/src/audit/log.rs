//! Appends to the audit log.

use super::chain::{Chain, LINE_BYTES_MAX};
use super::checkpoint::{Checkpoint, LedgerMark};
use super::error::AuditError;
use super::extent::LogExtent;
use super::head::{HeadFile, LogHead};
use super::line::{self, Beginning, Kind, LINE_ROOM_BYTES};
use super::new_entries::{NewEntries, PreparedEntry};
use super::queue::EntryQueue;
use super::recover;
#[cfg(test)]
use super::sole::SoleAppend;
use super::sole::SoleUse;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use portcullis_policy::Durability;
use portcullis_policy::recovery::RecoverMutex;
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

const LOG_FILE: &str = "audit.jsonl";
pub(super) const HEAD_FILE: &str = "audit.head";

/// How often a writer that must not block tries to get the file from another thread before it queues its entry. The
/// other thread needs a few microseconds; queueing takes longer than that.
const TRIES_MAX: u32 = 100;

/// The audit log of a state directory, to read and to verify it.
pub struct AuditLog {
    chain: Chain,
    /// Whether each line is synced to the disk before it takes effect.
    to_disk: AtomicBool,
    files: Mutex<Files>,
    /// Threads that wait for the files or work with them, for as long as that takes.
    blocking: AtomicUsize,
    pub(super) queue: Mutex<EntryQueue>,
    /// Looks up the generation of the ledger in the same state directory, if the two should be compared.
    ledger: Option<LedgerLookup>,
}

/// The audit log of a state directory, open for appending.
#[derive(Debug)]
pub struct AuditWriter {
    log: AuditLog,
}

/// Looks up the generation of a ledger. `None` if there is no ledger.
pub type LedgerLookup = Box<dyn Fn() -> io::Result<Option<u64>> + Send + Sync>;

pub(super) struct Files {
    pub(super) log: File,
    pub(super) head: File,
    directory: Dir,
    /// `None` until the log is open.
    sole: Option<SoleUse>,
    /// Maximum length of the log after the head, in bytes: the decisions of all running calls of one process. Another
    /// process moves the head before it appends.
    tail_bytes_max: usize,
    /// The end of the log after this process's last append. `None` at first, and after a failed write. The next append
    /// then reads the end from the files.
    left: Option<LogHead>,
    /// The generation of the ledger that this process has noted, and that its next line will name.
    ledger_unsaid: Option<u64>,
}

impl fmt::Debug for AuditLog {
    /// Leaves out the key of the chain.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditLog").field("to_disk", &self.to_disk).finish_non_exhaustive()
    }
}

impl Deref for AuditWriter {
    type Target = AuditLog;

    fn deref(&self) -> &AuditLog {
        &self.log
    }
}

impl AuditWriter {
    /// Opens the audit log, and creates it if it does not exist. `calls_max` is the maximum number of calls that run
    /// in one process at the same time.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(directory: &Dir, key: &[u8; 32], calls_max: u32) -> Result<Self, AuditError> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        let log = directory.open_with(LOG_FILE, &options)?.into_std();
        // On Linux, a positioned write to a file that is open for appending goes to its end (pwrite(2)).
        options.append(false).write(true);
        let head = directory.open_with(HEAD_FILE, &options)?.into_std();
        let directory = directory.try_clone()?;
        let tail_bytes_max = calls_max as usize * LINE_BYTES_MAX;
        let mut files = Files { log, head, directory, sole: None, tail_bytes_max, left: None, ledger_unsaid: None };
        let chain = Chain::new(key);
        files.locked(|files| {
            files.begin(&chain)?;
            files.sole = Some(SoleUse::begin(&files.directory, &files.log)?);
            Ok(())
        })?;
        let log = AuditLog {
            chain,
            to_disk: AtomicBool::new(false),
            files: Mutex::new(files),
            blocking: AtomicUsize::new(0),
            queue: Mutex::default(),
            ledger: None,
        };
        Ok(Self { log })
    }

    /// Appends one line: the members of `facts`, then those of `body`. When this returns, the line is in the file and
    /// survives a crash of this process. It also survives a crash of the machine, if the policy makes the log durable.
    ///
    /// Blocks while another process holds the file; async code uses [`AuditWriter::write`].
    ///
    /// # Errors
    /// The record cannot be written, or is not what its head says.
    pub fn append(&self, kind: Kind, facts: Option<&impl Serialize>, body: &impl Serialize) -> Result<(), AuditError> {
        self.enter(kind, facts, body).map(drop)
    }

    /// Appends one line like [`AuditWriter::append`]. Returns its sequence number.
    pub fn enter(&self, kind: Kind, facts: Option<&impl Serialize>, body: &impl Serialize) -> Result<u64, AuditError> {
        self.enter_new(&PreparedEntry::of(kind, facts, body)?.into())
    }

    /// Appends the entries with one write. Returns the sequence number of the last one.
    pub(super) fn enter_new(&self, new: &NewEntries) -> Result<u64, AuditError> {
        self.alone(|files| {
            let entry = files.append(new, &self.chain)?;
            // The head is not needed after a crash of the machine: a line behind it is known by its chain.
            if self.to_disk.load(Ordering::Relaxed) {
                files.log.sync_data()?;
            }
            Ok(entry)
        })
    }

    /// Appends the entries if that does not block: the files are free, and the lines need not reach the disk.
    pub(super) fn try_enter(&self, new: &NewEntries) -> Option<Result<u64, AuditError>> {
        if self.to_disk.load(Ordering::Relaxed) {
            return None;
        }
        let mut files = self.try_files()?;
        match files.try_locked(|files| files.append(new, &self.chain)) {
            Err(AuditError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => None,
            done => Some(done),
        }
    }

    /// Notes that this generation of the ledger is on disk. This reveals an older copy of the ledger that is put back
    /// later.
    ///
    /// # Errors
    /// The head cannot be written, or is not one of this host.
    pub fn note_ledger(&self, generation: u64) -> Result<(), AuditError> {
        self.alone(|files| {
            let mut checkpoint = files.checkpoint(&self.chain)?;
            if checkpoint.ledger.is_older_than(generation) {
                checkpoint.ledger = LedgerMark::Generation(generation);
                files.keep(checkpoint, &self.chain)?;
                // The next entry names the generation too, so that an older head does not hide an older ledger.
                files.ledger_unsaid = Some(generation);
            }
            Ok(())
        })
    }

    /// Returns what the log knows about the ledger.
    ///
    /// # Errors
    /// The head cannot be read, or is not one of this host.
    pub fn ledger_mark(&self) -> Result<LedgerMark, AuditError> {
        self.alone(|files| Ok(files.checkpoint(&self.chain)?.ledger))
    }

    /// Sets what kind of crash a line has to survive from now on.
    pub fn keep(&self, durability: Durability) {
        // Relaxed, because the flag protects no other data. An entry written meanwhile may have either durability.
        self.to_disk.store(durability == Durability::Machine, Ordering::Relaxed);
    }

    /// Lets [`AuditLog::verify`] and [`AuditLog::read`] compare the log with this ledger.
    pub fn beside(self, ledger: LedgerLookup) -> Self {
        Self { log: AuditLog { ledger: Some(ledger), ..self.log } }
    }
}

impl AuditLog {
    /// Locks the files if they are free, or if another thread holds them only for a few system calls.
    fn try_files(&self) -> Option<MutexGuard<'_, Files>> {
        for _ in 0..TRIES_MAX {
            // Such a thread may hold the files for a sync, or for the lock of another process. Queue the entry at once.
            if self.blocking.load(Ordering::Acquire) > 0 {
                return None;
            }
            match self.files.try_lock_recovered() {
                Some(files) => return Some(files),
                None => std::thread::yield_now(),
            }
        }
        None
    }

    /// Looks up the generation of the ledger. The outer `None` means that the two are not compared.
    pub(super) fn ledger(&self) -> io::Result<Option<Option<u64>>> {
        self.ledger.as_ref().map(|look_up| look_up()).transpose()
    }

    pub(super) fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Runs `work` while no other thread or process appends. Blocks until then.
    pub(super) fn alone<T>(&self, work: impl FnOnce(&mut Files) -> Result<T, AuditError>) -> Result<T, AuditError> {
        // Count this thread before it waits, so that async code queues its entries instead of trying for the files.
        let _waiting = BlockingThread::begin(&self.blocking);
        let mut files = self.files.lock_recovered();
        files.locked(work)
    }
}

#[cfg(test)]
impl AuditWriter {
    /// Begins to append without the lock, if this writer has the log for itself.
    pub(super) fn sole_append(&self) -> Option<SoleAppend> {
        self.log.files.lock_recovered().sole.as_ref()?.append()
    }

    pub(super) fn is_sole(&self) -> bool {
        self.log.files.lock_recovered().sole.as_ref().is_some_and(SoleUse::has_log_alone)
    }
}

/// Counts a blocking thread until it is dropped.
struct BlockingThread<'a>(&'a AtomicUsize);

impl<'a> BlockingThread<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for BlockingThread<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Files {
    /// Runs `work` while no other process uses the files: under the lock that all processes take, or without it while
    /// no other process has the log open.
    fn locked<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, AuditError>) -> Result<T, AuditError> {
        // `_appending` is dropped after `work`. Until then, a process that opens the log waits.
        if let Some(_appending) = self.sole.as_ref().and_then(SoleUse::append) {
            return work(self);
        }
        flock(&self.head, FlockOperation::LockExclusive).map_err(io::Error::from)?;
        self.until_unlocked(work)
    }

    /// Runs `work` like [`Files::locked`]. Fails with `WouldBlock` if another process holds the lock.
    fn try_locked<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, AuditError>) -> Result<T, AuditError> {
        if let Some(_appending) = self.sole.as_ref().and_then(SoleUse::append) {
            return work(self);
        }
        flock(&self.head, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from)?;
        self.until_unlocked(work)
    }

    fn until_unlocked<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, AuditError>) -> Result<T, AuditError> {
        let looked = self.sole.as_mut().map_or(Ok(()), |sole| sole.look(&self.log));
        let done = looked.map_err(AuditError::from).and_then(|()| work(self));
        // Unlock after an error too. The file stays open, so the system would not release the lock.
        flock(&self.head, FlockOperation::Unlock).map_err(io::Error::from)?;
        done
    }

    /// Writes the head of a new audit log, and adds a checkpoint to a head of an earlier version. A log with lines must
    /// have a head, because a cut could not be detected without it.
    fn begin(&self, chain: &Chain) -> Result<(), AuditError> {
        if self.head.metadata()?.len() == 0 && self.log.metadata()?.len() == 0 {
            return Ok(HeadFile::begin(&self.head, chain)?);
        }
        if let Some(HeadFile { head, checkpoint: None }) = HeadFile::read(&self.head, chain)? {
            // Write the checkpoint first. With a head of the earlier version, no process reads it yet.
            Checkpoint::UPGRADED.write(&self.head, chain)?;
            head.write(&self.head, chain)?;
        }
        Ok(())
    }

    /// Returns the checkpoint.
    pub(super) fn checkpoint(&self, chain: &Chain) -> Result<Checkpoint, AuditError> {
        let found = HeadFile::read(&self.head, chain)?.ok_or(AuditError::Head)?;
        Ok(found.checkpoint.unwrap_or(Checkpoint::UPGRADED))
    }

    /// Replaces the checkpoint.
    pub(super) fn keep(&self, checkpoint: Checkpoint, chain: &Chain) -> Result<(), AuditError> {
        Ok(checkpoint.write(&self.head, chain)?)
    }

    /// Returns the end of the audit log, where the next line goes.
    pub(super) fn end(&mut self, chain: &Chain) -> Result<LogHead, AuditError> {
        let LogExtent { links, bytes: found } = LogExtent::of(&self.log)?;
        if links == 0 {
            return Err(AuditError::Gone);
        }
        // The file only grows. If it has the same length as after this process's last append, no one has appended
        // since. If it is shorter, entries of this process may be missing.
        match self.left {
            Some(left) if left.bytes == found => Ok(left),
            Some(left) if left.bytes > found => Err(AuditError::Cut { found, expected: left.bytes }),
            Some(_) | None => self.look(found, chain),
        }
    }

    /// Appends the entries with one write. Returns the sequence number of the last one.
    pub(super) fn append(&mut self, new: &NewEntries, chain: &Chain) -> Result<u64, AuditError> {
        let mut end = self.end(chain)?;
        self.left = None;
        let mut lines = Vec::with_capacity(new.len() + 2 * LINE_ROOM_BYTES);
        for PreparedEntry { kind, members } in new.iter() {
            let beginning = Beginning { sequence: end.lines + 1, kind: *kind, ledger: self.ledger_unsaid.take() };
            let before = lines.len();
            let mac = line::write(&mut lines, beginning, members, chain, &end.mac)?;
            end = LogHead { bytes: end.bytes + (lines.len() - before) as u64, lines: end.lines + 1, mac };
        }
        // Write the lines before the head. A head that names missing lines looks like a log that was cut.
        self.log.write_all(&lines)?;
        match new.last.kind {
            // The outcome of the call follows and moves the head. Until then, the chain protects this line.
            Kind::Decision => {}
            Kind::Asked
            | Kind::Answer
            | Kind::Withdrawn
            | Kind::Revoked
            | Kind::Undone
            | Kind::Trusted
            | Kind::Hook
            | Kind::Outcome
            | Kind::Plugin
            | Kind::Ledger
            | Kind::Policy
            | Kind::Repair => end.write(&self.head, chain)?,
        }
        self.left = Some(end);
        Ok(end.lines)
    }

    /// Finds the end of the log: at the head, or after it if lines were written without a new head.
    fn look(&mut self, found: u64, chain: &Chain) -> Result<LogHead, AuditError> {
        let head = LogHead::read(&self.head, chain)?.ok_or(AuditError::Head)?;
        if found < head.bytes {
            return Err(AuditError::Cut { found, expected: head.bytes });
        }
        if found == head.bytes {
            return Ok(head);
        }
        let end = recover::recover(&mut self.log, &self.directory, chain, head, self.tail_bytes_max)?;
        end.write(&self.head, chain)?;
        Ok(end)
    }
}
