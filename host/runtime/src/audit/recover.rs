//! What a crash between a line and its head left behind: whole lines are taken over, half a line is set aside.

use super::head::Head;
use super::line::{self, Kind};
use super::log::AuditError;
use super::{Chain, LINE_BYTES_MAX};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// The most that can lie behind the head, in bytes: a process that dies leaves at most one line, and each that comes
/// after it repairs first. Some more is read, to tell a crash from something else.
const TAIL_BYTES_MAX: usize = 4 * LINE_BYTES_MAX;

#[derive(Serialize)]
struct Repair<'a> {
    set_aside_bytes: usize,
    set_aside_in: Option<&'a str>,
}

/// Brings the head and the log together again.
pub(super) fn recover(log: &mut File, directory: &Dir, chain: &Chain, mut head: Head) -> Result<Head, AuditError> {
    let tail = read_tail(log, head.bytes)?;
    let mut rest = tail.as_slice();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        // A whole line that does not follow was not written by a host that crashed.
        let mac = line::check(&rest[..end], chain, &head.mac).ok_or(AuditError::Head)?;
        head = Head { bytes: head.bytes + end as u64 + 1, lines: head.lines + 1, mac };
        rest = &rest[end + 1..];
    }
    if rest.is_empty() {
        return Ok(head);
    }
    let name = format!("audit.torn-{}", head.lines + 1);
    set_aside(directory, &name, rest)?;
    log.set_len(head.bytes)?;
    let repair = Repair { set_aside_bytes: rest.len(), set_aside_in: Some(&name) };
    let (line, mac) = line::write(head.lines + 1, Kind::Repair, &repair, chain, &head.mac)?;
    log.write_all(&line)?;
    Ok(Head { bytes: head.bytes + line.len() as u64, lines: head.lines + 1, mac })
}

fn read_tail(log: &File, from: u64) -> Result<Vec<u8>, AuditError> {
    let mut tail = vec![0_u8; TAIL_BYTES_MAX];
    let mut read = 0;
    while read < tail.len() {
        match log.read_at(&mut tail[read..], from + read as u64)? {
            0 => break,
            more => read += more,
        }
    }
    if read == tail.len() {
        return Err(AuditError::Head);
    }
    tail.truncate(read);
    Ok(tail)
}

fn set_aside(directory: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    directory.open_with(name, &options)?.write_all(bytes)
}
