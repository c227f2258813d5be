//! Writes and checks single lines of the audit log.

use super::chain::{Chain, LINE_BYTES_MAX, MAC_BYTES};
use portcullis_definitions::text::{hex, is_deceptive};
use serde::Serialize;
use serde_json::Value;
use std::io::Write;

/// The kind of an audit entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A decision on a call, written before it takes effect.
    Decision,
    /// An approval request, written before an approver is asked.
    Asked,
    /// An answer to an approval request, or the use of a remembered approval. An answer that grants a right is written
    /// before it takes effect.
    Answer,
    /// A withdrawn approval request.
    Withdrawn,
    /// A revoked approval.
    Revoked,
    /// An earlier entry does not count, because the change that it announced was not committed.
    Undone,
    /// A change of the user's trust in a policy file.
    Trusted,
    /// A hook's answer about a call, written before it takes effect.
    Hook,
    /// The outcome of a call.
    Outcome,
    /// A cache entry of a plugin was invalid, or could not be written.
    Plugin,
    /// The ledger was older than the log says, because it was replaced or removed. Everything in it was revoked.
    Ledger,
    /// A new policy took effect in a running host, or could not be used.
    Policy,
    /// The audit log itself was repaired after a crash.
    Repair,
}

impl Kind {
    const ALL: [Self; 13] = [
        Self::Decision,
        Self::Asked,
        Self::Answer,
        Self::Withdrawn,
        Self::Revoked,
        Self::Undone,
        Self::Trusted,
        Self::Hook,
        Self::Outcome,
        Self::Plugin,
        Self::Ledger,
        Self::Policy,
        Self::Repair,
    ];

    /// Returns the word in the audit log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Asked => "asked",
            Self::Answer => "answer",
            Self::Withdrawn => "withdrawn",
            Self::Revoked => "revoked",
            Self::Undone => "undone",
            Self::Trusted => "trusted",
            Self::Hook => "hook",
            Self::Outcome => "outcome",
            Self::Plugin => "plugin",
            Self::Ledger => "ledger",
            Self::Policy => "policy",
            Self::Repair => "repair",
        }
    }
}

/// Returns the kind with this word.
pub fn kind_of(word: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
}

/// An audit entry that was read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The sequence number, from 1.
    pub sequence: u64,
    /// The JSON document, including its MAC.
    pub document: Value,
}

/// The members with which every line begins.
#[derive(Clone, Copy)]
pub(super) struct Beginning {
    /// The sequence number, from 1.
    pub(super) sequence: u64,
    pub(super) kind: Kind,
    /// The generation of the ledger that was committed since the previous line.
    pub(super) ledger: Option<u64>,
}

/// The members of a line as JSON, each with a comma before it. They are serialized before the log is locked.
#[derive(Clone)]
pub(super) struct LineMembers(Vec<u8>);

impl LineMembers {
    /// Serializes the members of `facts`, then those of `body`.
    pub(super) fn of(facts: Option<&impl Serialize>, body: &impl Serialize) -> Result<Self, serde_json::Error> {
        let mut members = Vec::with_capacity(1024);
        if let Some(facts) = facts {
            append_members(&mut members, facts)?;
        }
        append_members(&mut members, body)?;
        if members.len() > LINE_BYTES_MAX { Err(too_long()) } else { Ok(Self(plain(members))) }
    }

    /// Returns the length in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

fn too_long() -> serde_json::Error {
    serde::ser::Error::custom("an audit entry is too long")
}

/// Room that a line needs besides its members, in bytes: the other members and the MAC.
pub(super) const LINE_ROOM_BYTES: usize = 256;

/// Appends a line to `lines`: a JSON object with its sequence number, time, kind and members, and, last, the MAC of
/// everything before it. Returns the MAC.
pub(super) fn write(
    lines: &mut Vec<u8>,
    beginning: Beginning,
    LineMembers(members): &LineMembers,
    chain: &Chain,
    previous: &[u8; MAC_BYTES],
) -> Result<[u8; MAC_BYTES], serde_json::Error> {
    lines.reserve(members.len() + LINE_ROOM_BYTES);
    let start = lines.len();
    let line = lines;
    let Beginning { sequence, kind, ledger } = beginning;
    // Numbers, times and kinds need no escapes.
    let written =
        write!(line, "{{\"seq\":{sequence},\"time\":\"{}\",\"kind\":\"{}\"", jiff::Timestamp::now(), kind.as_str());
    written.map_err(serde_json::Error::io)?;
    if let Some(generation) = ledger {
        write!(line, ",\"ledger\":{generation}").map_err(serde_json::Error::io)?;
    }
    line.extend_from_slice(members);
    let mac = chain.next(previous, &line[start..]);
    line.extend_from_slice(b",\"mac\":\"");
    line.extend_from_slice(hex(&mac).as_bytes());
    line.extend_from_slice(b"\"}\n");
    if line.len() - start > LINE_BYTES_MAX { Err(too_long()) } else { Ok(mac) }
}

/// Escapes every character that could deceive a reader of the file. In JSON, an escape is the same text.
fn plain(line: Vec<u8>) -> Vec<u8> {
    // Without a branch in the loop, the compiler checks many bytes with one instruction.
    if line.iter().fold(true, |is_plain, byte| is_plain & (0x20..0x7f).contains(byte)) {
        return line;
    }
    let mut plain = Vec::with_capacity(line.len() * 2);
    let mut units = [0; 2];
    let mut bytes = [0; 4];
    // serde_json writes UTF-8, so nothing is replaced here.
    for character in String::from_utf8_lossy(&line).chars() {
        if is_deceptive(character) {
            // JSON escapes are UTF-16 code units (RFC 8259, section 7).
            for unit in character.encode_utf16(&mut units) {
                plain.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
        } else {
            plain.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
        }
    }
    plain
}

/// Appends the members of an object to an object that is still open.
fn append_members(line: &mut Vec<u8>, object: &impl Serialize) -> Result<(), serde_json::Error> {
    let start = line.len();
    serde_json::to_writer(&mut *line, object)?;
    // Replace the object's opening brace with a comma, and drop its closing brace.
    line.pop();
    if line.len() == start + 1 {
        line.pop();
    } else {
        line[start] = b',';
    }
    Ok(())
}

/// Splits a line without its line break into the part that its MAC covers and the MAC, if it has this form.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    const TAIL: usize = ",\"mac\":\"".len() + 2 * MAC_BYTES + "\"}".len();
    let body = line.len().checked_sub(TAIL)?;
    let (body, tail) = line.split_at(body);
    let mac = tail.strip_prefix(b",\"mac\":\"")?.strip_suffix(b"\"}")?;
    Some((body, mac))
}

/// Returns the MAC of a line if it correctly follows a line with the MAC `previous`.
pub(super) fn check(line: &[u8], chain: &Chain, previous: &[u8; MAC_BYTES]) -> Option<[u8; MAC_BYTES]> {
    let (body, mac) = split(line)?;
    let expected = chain.next(previous, body);
    (hex(&expected).as_bytes() == mac).then_some(expected)
}
