//! Reading the record back, and finding the first line that is not what was written.

use super::chain::LINE_BYTES_MAX;
use super::checkpoint::LedgerMark;
use super::error::AuditError;
use super::head::{Head, HeadFile};
use super::line::{self, Entry};
use super::lines::Lines;
use super::log::AuditLog;
use crate::ledger::FIRST_GENERATION;
use serde_json::Value;
use std::fmt;
use std::io;

/// What a look at the whole record found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Lines that are what was written.
    pub lines: u64,
    /// The first thing that is not, if there is one.
    pub fault: Option<Fault>,
}

/// The first thing that is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A line was changed, dropped, inserted or moved, or written under another key.
    #[error("entry {0} is not what was written there: it, or one before it, was changed, dropped, inserted or moved")]
    Entry(u64),
    /// Lines are missing at the end.
    #[error("entry {0} is missing: the end of the record was cut off")]
    Cut(u64),
    /// The head was changed, or written under another key.
    #[error("the head is damaged, or was written under another key; the {0} entries before it verify")]
    Head(u64),
    /// What stands behind the head is no line of this host.
    #[error("entry {0}, behind the head, is not one of this host: it was appended by another hand")]
    Uncovered(u64),
    /// What stands behind the head is half a line: the system stops a write of a process that is killed between two
    /// pages. The next call sets it aside and says so in the record.
    #[error(
        "entry {0}, behind the head, is half a line, as a crash leaves it: the next call sets it aside and records that"
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

/// The log at one moment.
struct Snapshot {
    /// `None` where it is damaged.
    head: Option<Head>,
    mark: Option<LedgerMark>,
    lines: Lines,
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
    /// Checks every line from the first.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn verify(&self) -> Result<Verified, AuditError> {
        self.walk(|_| Ok(()))
    }

    /// Reads every line that verifies, the first first, and tells what is wrong after them.
    ///
    /// # Errors
    /// The record cannot be read, or `each` says so.
    pub fn read(&self, mut each: impl FnMut(Entry) -> io::Result<()>) -> Result<Verified, AuditError> {
        self.walk(|(sequence, line)| {
            let document: Value = serde_json::from_slice(line)?;
            Ok(each(Entry { sequence, document })?)
        })
    }

    fn walk(&self, mut each: impl FnMut((u64, &[u8])) -> Result<(), AuditError>) -> Result<Verified, AuditError> {
        let Snapshot { head, mark, mut lines } = self.snapshot()?;
        let mut at = Head::EMPTY;
        let mut met = head == Some(at);
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
            at = Head { bytes: at.bytes + line.len() as u64 + 1, lines: at.lines + 1, mac };
            // Lines behind the head are those of calls that have not ended; the chain vouches for them.
            met |= head == Some(at);
            each((at.lines, line))?;
        }
        let fault = match head {
            Some(_) if met => None,
            Some(head) if head.lines > at.lines => Some(Fault::Cut(at.lines + 1)),
            Some(_) | None => Some(Fault::Head(at.lines)),
        };
        self.compare(Verified { lines: at.lines, fault }, mark)
    }

    /// Takes the lock for as long as it takes to read the head and the length of the log. The file only grows behind
    /// that length, so its lines are read without the lock.
    fn snapshot(&self) -> Result<Snapshot, AuditError> {
        self.alone(|files| {
            let file = HeadFile::read(&files.head, self.chain())?;
            Ok(Snapshot {
                head: file.map(|file| file.head),
                mark: file.and_then(|file| file.checkpoint).map(|checkpoint| checkpoint.ledger),
                lines: Lines::between(&files.log, 0, files.log.metadata()?.len())?,
            })
        })
    }

    /// Compares the ledger with the mark that the log had before, because a process commits to the ledger first.
    fn compare(&self, verified: Verified, mark: Option<LedgerMark>) -> Result<Verified, AuditError> {
        let (None, Some(LedgerMark::Generation(expected))) = (&verified.fault, mark) else { return Ok(verified) };
        let Some(found) = self.ledger()? else { return Ok(verified) };
        if found.unwrap_or(FIRST_GENERATION) >= expected {
            return Ok(verified);
        }
        let lines = verified.lines;
        Ok(Verified { lines, fault: Some(Fault::Ledger { lines, found, expected }) })
    }
}
