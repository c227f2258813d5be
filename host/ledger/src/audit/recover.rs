//! Recovers lines after the head. Whole lines, of a call that has not ended or of a process that died, are kept. A
//! partial line is moved to another file.

use super::chain::Chain;
use super::error::AuditError;
use super::head::LogHead;
use super::line::{self, Beginning, Kind, LineMembers};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

#[derive(Serialize)]
struct LogRepair<'a> {
    set_aside_bytes: usize,
    set_aside_in: Option<&'a str>,
}

/// Moves the head to the end of the log. At most `tail_bytes_max` bytes follow the head.
pub(super) fn recover(
    log: &mut File,
    directory: &Dir,
    chain: &Chain,
    mut head: LogHead,
    tail_bytes_max: usize,
) -> Result<LogHead, AuditError> {
    let tail = read_tail(log, head.bytes, tail_bytes_max)?;
    let mut rest = tail.as_slice();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        // A crashed host cannot have written a whole line that does not follow the chain.
        let mac = line::check(&rest[..end], chain, &head.mac).ok_or(AuditError::Head)?;
        head = LogHead { bytes: head.bytes + end as u64 + 1, lines: head.lines + 1, mac };
        rest = &rest[end + 1..];
    }
    if rest.is_empty() {
        return Ok(head);
    }
    let name = format!("audit.torn-{}", head.lines + 1);
    // Copy the part before the log is cut. After a crash in between, the next recovery finds it and copies it again.
    set_aside(directory, &name, rest)?;
    log.set_len(head.bytes)?;
    let beginning = Beginning { sequence: head.lines + 1, kind: Kind::Repair, ledger: None };
    let repair = LogRepair { set_aside_bytes: rest.len(), set_aside_in: Some(&name) };
    let mut line = Vec::new();
    let mac = line::write(&mut line, beginning, &LineMembers::of(None::<&()>, &repair)?, chain, &head.mac)?;
    log.write_all(&line)?;
    Ok(LogHead { bytes: head.bytes + line.len() as u64, lines: head.lines + 1, mac })
}

fn read_tail(log: &File, from: u64, tail_bytes_max: usize) -> Result<Vec<u8>, AuditError> {
    let mut reader = log.try_clone()?;
    reader.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    // The file is open for appending, so the read position does not affect writes.
    reader.take(tail_bytes_max as u64 + 1).read_to_end(&mut tail)?;
    // The decisions of all running calls are shorter, so no host of this state directory wrote a longer tail.
    if tail.len() > tail_bytes_max { Err(AuditError::Head) } else { Ok(tail) }
}

fn set_aside(directory: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    directory.open_with(name, &options)?.write_all(bytes)
}
