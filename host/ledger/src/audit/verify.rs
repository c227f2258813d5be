//! Reads the audit log, and finds the first line that is not what the host wrote.

use super::chain::LINE_BYTES_MAX;
use super::checkpoint::LedgerMark;
use super::error::AuditError;
use super::extent::LogExtent;
use super::head::{HeadFile, LogHead};
use super::line::{self, Entry};
use super::lines::LogLines;
use super::log::AuditLog;
use crate::ledger::FIRST_GENERATION;
use serde_json::Value;
use std::fmt;
use std::io;

/// The result of checking the whole audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Number of valid lines, from the first.
    pub lines: u64,
    /// The first fault, if there is one.
    pub fault: Option<Fault>,
}

/// A fault of an audit log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A line was changed, dropped, inserted or moved, or written with another key.
    #[error("entry {0} is not what the host wrote: this or an earlier entry was changed, removed, inserted or moved")]
    Entry(u64),
    /// Lines are missing at the end.
    #[error("entry {0} is missing: the end of the audit log was cut off")]
    Cut(u64),
    /// The head was changed, or written with another key.
    #[error("the head is damaged, or was written with another key; the {0} entries before it verify")]
    Head(u64),
    /// A line after the head was not written by this host.
    #[error("entry {0}, after the head, was not written by this host: another program appended it")]
    Uncovered(u64),
    /// A line after the head is incomplete, because the system can stop the write of a killed process between two
    /// pages. The next call moves it to another file and records that.
    #[error(
        "entry {0}, after the head, is incomplete, as after a crash: the next call moves it to another file and \
         records that"
    )]
    Torn(u64),
    /// The ledger is older than the log says, or is missing.
    #[error(
        "{}; the {lines} entries verify, but an approval in this ledger may have been revoked or spent. The next host \
         that opens the state directory revokes what it holds", LedgerFound(*.found, *.expected)
    )]
    Ledger {
        /// The number of entries, all of which verify.
        lines: u64,
        /// The ledger's generation. `None` if there is no ledger.
        found: Option<u64>,
        /// The generation that the log expects.
        expected: u64,
    },
}

/// A place between two entries, up to which a reader has read the log. The default is before the first entry.
#[derive(Clone, Copy, Debug)]
pub struct LogPlace(LogHead);

impl Default for LogPlace {
    fn default() -> Self {
        Self(LogHead::EMPTY)
    }
}

/// The log at one moment.
struct LogSnapshot {
    /// `None` if it is damaged.
    head: Option<LogHead>,
    mark: Option<LedgerMark>,
    lines: LogLines,
}

/// The generation that was found, and the expected one.
struct LedgerFound(Option<u64>, u64);

impl fmt::Display for LedgerFound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(found, expected) = self;
        match found {
            None => write!(formatter, "the ledger was removed (the audit log knows generation {expected})"),
            Some(found) => write!(
                formatter,
                "the ledger was replaced by an older copy (generation {found}; the audit log knows generation {expected})"
            ),
        }
    }
}

impl AuditLog {
    /// Checks every line, from the first. A fault is part of the result, not an error.
    ///
    /// # Errors
    /// The audit log cannot be read.
    pub fn verify(&self) -> Result<Verified, AuditError> {
        self.walk(&mut LogPlace::default(), |_| Ok(()))
    }

    /// Calls `each` with every valid entry, from the first. Returns the fault after them, if there is one.
    ///
    /// # Errors
    /// The audit log cannot be read, or `each` fails.
    pub fn read(&self, each: impl FnMut(Entry) -> io::Result<()>) -> Result<Verified, AuditError> {
        self.read_after(&mut LogPlace::default(), each)
    }

    /// Calls `each` with every valid entry after a place, and moves the place behind the last one. The entries before
    /// the place were checked when they were read, and are not checked again.
    ///
    /// # Errors
    /// The audit log cannot be read, or `each` fails.
    pub fn read_after(
        &self,
        place: &mut LogPlace,
        mut each: impl FnMut(Entry) -> io::Result<()>,
    ) -> Result<Verified, AuditError> {
        self.walk(place, |(sequence, line)| {
            let document: Value = serde_json::from_slice(line)?;
            Ok(each(Entry { sequence, document })?)
        })
    }

    /// Calls `each` with every valid line, from the first.
    pub(super) fn read_lines(
        &self,
        each: impl FnMut((u64, &[u8])) -> Result<(), AuditError>,
    ) -> Result<Verified, AuditError> {
        self.walk(&mut LogPlace::default(), each)
    }

    fn walk(
        &self,
        LogPlace(at): &mut LogPlace,
        mut each: impl FnMut((u64, &[u8])) -> Result<(), AuditError>,
    ) -> Result<Verified, AuditError> {
        let LogSnapshot { head, mark, mut lines } = self.snapshot(at.bytes)?;
        // The head can be before the place, because it follows the entries of calls that have not ended.
        let mut met = head == Some(*at) || head.is_some_and(|head| head.bytes < at.bytes);
        while let Some(line) = lines.next()? {
            let whole = line.strip_suffix(b"\n");
            let mac = whole.and_then(|line| line::check(line, self.chain(), &at.mac));
            let (Some(line), Some(mac)) = (whole, mac) else {
                let fault = match (met, whole) {
                    (false, _) => Fault::Entry,
                    (true, None) if line.len() <= LINE_BYTES_MAX => Fault::Torn,
                    (true, _) => Fault::Uncovered,
                };
                return Ok(Verified { lines: at.lines, fault: Some(fault(at.lines + 1)) });
            };
            *at = LogHead { bytes: at.bytes + line.len() as u64 + 1, lines: at.lines + 1, mac };
            // Lines after the head belong to calls that have not ended. The chain proves them.
            met |= head == Some(*at);
            each((at.lines, line))?;
        }
        let fault = match head {
            Some(_) if met => None,
            Some(head) if head.lines > at.lines => Some(Fault::Cut(at.lines + 1)),
            // The head is damaged, or names another last line than those that verify.
            Some(_) | None => Some(Fault::Head(at.lines)),
        };
        self.compare(Verified { lines: at.lines, fault }, mark)
    }

    /// Holds the lock only to read the head and the length of the log. The file only grows after that length, so its
    /// lines are read without the lock.
    fn snapshot(&self, from: u64) -> Result<LogSnapshot, AuditError> {
        self.alone(|files| {
            let file = HeadFile::read(&files.head, self.chain())?;
            Ok(LogSnapshot {
                head: file.map(|file| file.head),
                mark: file.and_then(|file| file.checkpoint).map(|checkpoint| checkpoint.ledger),
                lines: LogLines::between(&files.log, from, LogExtent::of(&files.log)?.bytes)?,
            })
        })
    }

    /// Compares the ledger with the mark that the log had before, because a process commits to the ledger first.
    fn compare(&self, verified: Verified, mark: Option<LedgerMark>) -> Result<Verified, AuditError> {
        // A log with a fault, or of an earlier version, proves nothing about the ledger.
        let (None, Some(LedgerMark::Generation(expected))) = (&verified.fault, mark) else { return Ok(verified) };
        let Some(found) = self.ledger()? else { return Ok(verified) };
        // A missing ledger counts as a new one. It is not older if the log knows of no sealed row.
        if found.unwrap_or(FIRST_GENERATION) >= expected {
            return Ok(verified);
        }
        let lines = verified.lines;
        Ok(Verified { lines, fault: Some(Fault::Ledger { lines, found, expected }) })
    }
}
