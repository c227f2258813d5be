//! The head: the length of the audit log and the MAC of its last line. It is written after every line, under a separate
//! MAC. The checkpoint follows it in the same file.

use super::chain::{Chain, GENESIS, HEAD_BYTES, MAC_BYTES};
use super::checkpoint::{CHECKPOINT_BYTES, Checkpoint};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The head and the checkpoint.
const FILE_BYTES: usize = HEAD_BYTES + CHECKPOINT_BYTES;

/// Seed of the head's own MAC, so that it never equals the MAC of a line.
const HEAD_SEED: [u8; MAC_BYTES] = *b"portcullis audit head, version 2";

/// The seed of a head without a checkpoint, from an earlier version. It differs, so that a head that was cut off from
/// its checkpoint is not accepted as one of these.
const HEAD_SEED_WITHOUT_CHECKPOINT: [u8; MAC_BYTES] = *b"portcullis audit head, version 1";

/// The end of the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogHead {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) mac: [u8; MAC_BYTES],
}

/// The content of the head file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadFile {
    pub(super) head: LogHead,
    /// `None` in a file that an earlier version wrote.
    pub(super) checkpoint: Option<Checkpoint>,
}

impl LogHead {
    /// The head of an empty audit log.
    pub(crate) const EMPTY: Self = Self { bytes: 0, lines: 0, mac: GENESIS };

    /// Reads the head. Returns `None` if it was not written with this key.
    pub(crate) fn read(file: &File, chain: &Chain) -> io::Result<Option<Self>> {
        Ok(HeadFile::read(file, chain)?.map(|found| found.head))
    }

    /// Writes the head with one write.
    pub(crate) fn write(&self, file: &File, chain: &Chain) -> io::Result<()> {
        file.write_all_at(&self.encode(chain), 0)
    }

    fn encode(&self, chain: &Chain) -> [u8; HEAD_BYTES] {
        let mut bytes = [0_u8; HEAD_BYTES];
        bytes[..8].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.lines.to_le_bytes());
        bytes[16..16 + MAC_BYTES].copy_from_slice(&self.mac);
        let mac = chain.next(&HEAD_SEED, &bytes[..16 + MAC_BYTES]);
        bytes[16 + MAC_BYTES..].copy_from_slice(&mac);
        bytes
    }

    fn decode(bytes: &[u8], seed: &[u8; MAC_BYTES], chain: &Chain) -> Option<Self> {
        let (body, mac) = bytes.split_at_checked(16 + MAC_BYTES)?;
        if chain.next(seed, body) != mac {
            return None;
        }
        Some(Self {
            bytes: u64::from_le_bytes(body[..8].try_into().ok()?),
            lines: u64::from_le_bytes(body[8..16].try_into().ok()?),
            mac: body[16..].try_into().ok()?,
        })
    }
}

impl HeadFile {
    /// Reads both. Returns `None` if one of them was not written under this key.
    pub(super) fn read(file: &File, chain: &Chain) -> io::Result<Option<Self>> {
        let mut bytes = [0_u8; FILE_BYTES];
        let mut read = 0;
        while read < FILE_BYTES {
            match file.read_at(&mut bytes[read..], read as u64)? {
                0 => break,
                more => read += more,
            }
        }
        Ok(Self::decode(&bytes[..read], chain))
    }

    /// Writes the head and the checkpoint of a new audit log with one write.
    pub(super) fn begin(file: &File, chain: &Chain) -> io::Result<()> {
        let (head, checkpoint) = (LogHead::EMPTY.encode(chain), Checkpoint::EMPTY.encode(chain));
        file.write_all_at(&[head.as_slice(), &checkpoint].concat(), 0)
    }

    fn decode(bytes: &[u8], chain: &Chain) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        if let Some(head) = LogHead::decode(head, &HEAD_SEED_WITHOUT_CHECKPOINT, chain) {
            return Some(Self { head, checkpoint: None });
        }
        let head = LogHead::decode(head, &HEAD_SEED, chain)?;
        Some(Self { head, checkpoint: Some(Checkpoint::decode(rest, chain)?) })
    }
}
