//! Settles calls that died with their process. Each has a decision in the log and no outcome, and the next process that
//! opens the state directory writes one. The same scan finds announced answers, so that answers that were never
//! committed can be undone.

use super::error::AuditError;
use super::line::Kind;
use super::lines::LogLines;
use super::log::AuditWriter;
use super::new_entries::PreparedEntry;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io;

/// The answers that grant a right. Each is announced in the log before it takes effect.
const GRANTING_ANSWERS: [&str; 5] = ["yes", "session", "always", "part", "remembered"];

/// A call with a decision and without an outcome.
#[derive(Clone)]
struct UnfinishedCall {
    call: String,
    tool: String,
    /// The process that made the decision. Empty in a line of an earlier version; no process has that name.
    owner: String,
    /// Whether the tool may have been started.
    may_have_run: bool,
    /// The position in the log at which the line of its decision begins.
    at: u64,
}

/// The outcome of a call whose process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadCallEnding {
    /// It ran, and its effects are not known.
    Lost,
    /// It had not begun, and its approval request can still be answered.
    Pending,
}

/// An answer that grants a right, as the log announced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The sequence number of its entry.
    pub entry: u64,
    /// The id of the request that it answers.
    pub question: String,
}

/// The result of settling a scan.
pub struct SettledScan {
    /// The announced answers that were not taken back.
    pub announced: Vec<Announced>,
    /// Bytes of the log in which every decision has an outcome.
    bytes: u64,
}

/// The outcome of a call whose process died.
#[derive(Serialize)]
struct LossLine<'a> {
    call: &'a str,
    tool: &'a str,
    outcome: &'a str,
    code: &'a str,
    detail: &'a str,
}

/// The members of a line that show which calls have ended.
#[derive(Deserialize)]
struct ScannedLine {
    seq: u64,
    kind: String,
    call: Option<String>,
    tool: Option<String>,
    owner: Option<String>,
    decision: Option<String>,
    answer: Option<String>,
    question: Option<String>,
    entry: Option<u64>,
    ledger: Option<u64>,
}

/// The relevant content of the log, from the checkpoint to its end when the scan began.
pub struct LogScan {
    scan: Scan,
    to: u64,
}

/// The relevant content of a part of the log: calls, answers and the ledger.
#[derive(Default)]
struct Scan {
    unfinished: HashMap<String, UnfinishedCall>,
    /// The requests of announced answers, by the sequence numbers of their entries.
    announced: BTreeMap<u64, String>,
    /// The newest generation of the ledger that a line names.
    ledger: u64,
}

impl AuditWriter {
    /// Reads what was appended since the checkpoint. Other processes may append at the same time.
    ///
    /// # Errors
    /// The log cannot be read, or does not match its head.
    pub fn scan(&self) -> Result<LogScan, AuditError> {
        let (from, to, log) = self.alone(|files| {
            let (end, checkpoint) = (files.end(self.chain())?, files.checkpoint(self.chain())?);
            if checkpoint.settled > end.bytes {
                return Err(AuditError::Cut { found: end.bytes, expected: checkpoint.settled });
            }
            Ok((checkpoint.settled, end.bytes, files.log.try_clone()?))
        })?;
        // Read without the lock, because this is the long part. `settle` reads what others append meanwhile.
        let mut scan = Scan::default();
        scan.read(&log, from, to)?;
        Ok(LogScan { scan, to })
    }

    /// Writes an outcome for each call whose process died without one. `is_alive` returns whether a process still runs,
    /// and `ending` how the call with an id ended.
    ///
    /// # Errors
    /// The error of `ending`, or the log cannot be read or written, or does not match its head.
    pub fn settle<E: From<AuditError>>(
        &self,
        scanned: LogScan,
        is_alive: impl Fn(&str) -> bool,
        ending: impl Fn(&str) -> Result<DeadCallEnding, E>,
    ) -> Result<SettledScan, E> {
        let LogScan { mut scan, to } = scanned;
        let mut dead = scan.dead(is_alive);
        // The map has no order. The outcomes follow in the order of the decisions.
        dead.sort_by_key(|call| call.at);
        // Ask the ledger before the log is locked. A change of the ledger locks the log within its transaction, so the
        // other order could deadlock.
        let endings = dead.into_iter().map(|call| Ok((ending(&call.call)?, call))).collect::<Result<Vec<_>, E>>()?;
        self.alone(|files| {
            let end = files.end(self.chain())?;
            // A dead process wrote its last line before this read. Another process may have settled its calls.
            scan.read(&files.log, to, end.bytes)?;
            for (ending, call) in &endings {
                // A call that another process resumes keeps its id, and has a new decision. That process writes the
                // outcome.
                let Some(still) = scan.unfinished.get(&call.call).filter(|still| still.at == call.at) else { continue };
                let loss = PreparedEntry::of(Kind::Outcome, None::<&()>, &still.loss(*ending))?;
                files.append(&loss.into(), self.chain())?;
                scan.unfinished.remove(&call.call);
            }
            let bytes = scan.unfinished.values().map(|call| call.at).min();
            let bytes = bytes.map_or_else(|| Ok(files.end(self.chain())?.bytes), Ok::<_, AuditError>)?;
            // The caller takes back those that were not committed before it notes the scan as settled. The next scan
            // begins behind it.
            Ok(SettledScan { announced: scan.announced(), bytes })
        })
        .map_err(E::from)
    }

    /// Notes what was settled, so that the next scan begins after it.
    ///
    /// # Errors
    /// The head cannot be written, or is not one of this host.
    pub fn note_settled(&self, settled: &SettledScan) -> Result<(), AuditError> {
        self.alone(|files| {
            let mut checkpoint = files.checkpoint(self.chain())?;
            if settled.bytes > checkpoint.settled {
                checkpoint.settled = settled.bytes;
                files.keep(checkpoint, self.chain())?;
            }
            Ok(())
        })
    }
}

impl LogScan {
    /// Returns the newest generation of the ledger that a line names, or zero.
    pub fn ledger(&self) -> u64 {
        self.scan.ledger
    }

    /// Returns the announced answers that were not taken back.
    pub fn announced(&self) -> Vec<Announced> {
        self.scan.announced()
    }
}

impl Scan {
    /// Reads the lines of a part of the log. An unreadable line is skipped; `verify` reports it.
    fn read(&mut self, log: &File, from: u64, to: u64) -> io::Result<()> {
        let (mut lines, mut at) = (LogLines::between(log, from, to)?, from);
        while let Some(line) = lines.next()? {
            let length = line.len() as u64;
            if let Ok(scanned) = serde_json::from_slice(line) {
                self.take(scanned, at);
            }
            at += length;
        }
        Ok(())
    }

    fn take(&mut self, line: ScannedLine, at: u64) {
        self.ledger = self.ledger.max(line.ledger.unwrap_or(0));
        if line.kind == Kind::Undone.as_str()
            && let Some(entry) = line.entry
        {
            self.announced.remove(&entry);
        }
        let Some(call) = line.call else { return };
        if line.kind == Kind::Decision.as_str() {
            let may_have_run = line.decision.as_deref() == Some("allow");
            let (tool, owner) = (line.tool.unwrap_or_default(), line.owner.unwrap_or_default());
            self.unfinished.insert(call.clone(), UnfinishedCall { call, tool, owner, may_have_run, at });
        } else if line.kind == Kind::Outcome.as_str() {
            self.unfinished.remove(&call);
        } else if line.kind == Kind::Answer.as_str()
            && line.answer.is_some_and(|answer| GRANTING_ANSWERS.contains(&answer.as_str()))
        {
            if let Some(unfinished) = self.unfinished.get_mut(&call) {
                unfinished.may_have_run = true;
            }
            if let Some(question) = line.question {
                self.announced.insert(line.seq, question);
            }
        }
    }

    fn announced(&self) -> Vec<Announced> {
        let announced = self.announced.iter();
        announced.map(|(entry, question)| Announced { entry: *entry, question: question.clone() }).collect()
    }

    /// Returns the unfinished calls of processes that have ended.
    fn dead(&self, is_alive: impl Fn(&str) -> bool) -> Vec<UnfinishedCall> {
        let owners: HashSet<&str> = self.unfinished.values().map(|call| call.owner.as_str()).collect();
        let dead: HashSet<&str> = owners.into_iter().filter(|owner| !is_alive(owner)).collect();
        self.unfinished.values().filter(|call| dead.contains(call.owner.as_str())).cloned().collect()
    }
}

impl UnfinishedCall {
    fn loss(&self, ending: DeadCallEnding) -> LossLine<'_> {
        let (outcome, code, detail) = match ending {
            DeadCallEnding::Pending => {
                ("pending", "approval-pending", "the host died while the call waited; it can still be approved")
            }
            DeadCallEnding::Lost if self.may_have_run => (
                "lost",
                "host-died",
                "the host died before the call ended; if the tool had started, its side effects remain, and the host \
                 does not run it again",
            ),
            DeadCallEnding::Lost => {
                ("lost", "host-died", "the host died before the call ended; the tool had not started")
            }
        };
        LossLine { call: &self.call, tool: &self.tool, outcome, code, detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_grants_something_is_announced() {
        let announced = |answer: &str| {
            let line = serde_json::json!({
                "seq": 7, "kind": Kind::Answer.as_str(), "call": "c", "question": "q", "answer": answer,
            });
            let mut scan = Scan::default();
            scan.take(serde_json::from_value(line).unwrap(), 0);
            scan.announced().len()
        };
        for answer in ["yes", "session", "always", "part", "remembered"] {
            assert_eq!(announced(answer), 1, "{answer}");
        }
        for answer in ["no", "expired", "ask", "refuse"] {
            assert_eq!(announced(answer), 0, "{answer}");
        }
    }
}
