//! One line of the record, as it is written and as it is read back.

use super::{Chain, LINE_BYTES_MAX, MAC_BYTES};
use crate::text::hex;
use serde::Serialize;
use serde_json::Value;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A decision on a call, written before it takes effect.
    Decision,
    /// A person's answer, written before it takes effect.
    Answer,
    /// How a call ended.
    Outcome,
    /// A plugin was loaded or refused, or its compiled code was not what was stored.
    Plugin,
    /// The record itself was repaired after a crash.
    Repair,
}

/// A line of the record, read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its place, from 1.
    pub sequence: u64,
    /// The document as it stands, its MAC included.
    pub document: Value,
}

/// The members every line begins with; those of its kind follow.
#[derive(Serialize)]
struct Line<'a, T> {
    seq: u64,
    time: String,
    kind: Kind,
    #[serde(flatten)]
    body: &'a T,
}

/// Writes a line: a JSON object whose last member is the MAC of everything before it.
pub(super) fn write(
    sequence: u64,
    kind: Kind,
    body: &impl Serialize,
    chain: &Chain,
    previous: &[u8; MAC_BYTES],
) -> Result<(Vec<u8>, [u8; MAC_BYTES]), serde_json::Error> {
    let time = jiff::Timestamp::now().to_string();
    let mut line = Vec::with_capacity(512);
    serde_json::to_writer(&mut line, &Line { seq: sequence, time, kind, body })?;
    line.pop();
    let mac = chain.next(previous, &line);
    line.extend_from_slice(b",\"mac\":\"");
    line.extend_from_slice(hex(&mac).as_bytes());
    line.extend_from_slice(b"\"}\n");
    if line.len() > LINE_BYTES_MAX {
        return Err(serde::ser::Error::custom("a line of the record is too long"));
    }
    Ok((line, mac))
}

/// Splits a line, without its line break, into what its MAC covers and the MAC, if it has the form of one.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    const TAIL: usize = ",\"mac\":\"".len() + 2 * MAC_BYTES + "\"}".len();
    let body = line.len().checked_sub(TAIL)?;
    let (body, tail) = line.split_at(body);
    let mac = tail.strip_prefix(b",\"mac\":\"")?.strip_suffix(b"\"}")?;
    Some((body, mac))
}

/// Whether a line follows what has the MAC `previous`; its own MAC if so.
pub(super) fn check(line: &[u8], chain: &Chain, previous: &[u8; MAC_BYTES]) -> Option<[u8; MAC_BYTES]> {
    let (body, mac) = split(line)?;
    let expected = chain.next(previous, body);
    (hex(&expected).as_bytes() == mac).then_some(expected)
}
