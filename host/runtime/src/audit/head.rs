//! The head: how long the record is and what its last line's MAC is. Written after every line, under a MAC of its own.

use super::{Chain, GENESIS, MAC_BYTES};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Length, number of lines, last MAC, own MAC.
const HEAD_BYTES: usize = 16 + 2 * MAC_BYTES;

/// What the head's own MAC is chained to, so that it is never the MAC of a line.
const HEAD_SEED: [u8; MAC_BYTES] = *b"portcullis audit head, version 1";

/// Where the record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) mac: [u8; MAC_BYTES],
}

impl Head {
    /// The head of an empty record.
    pub(crate) const EMPTY: Self = Self { bytes: 0, lines: 0, mac: GENESIS };

    /// Reads the head; `None` where it is not one that was written under this key.
    pub(crate) fn read(file: &File, chain: &Chain) -> io::Result<Option<Self>> {
        let mut bytes = [0_u8; HEAD_BYTES];
        let mut read = 0;
        while read < HEAD_BYTES {
            match file.read_at(&mut bytes[read..], read as u64)? {
                0 => break,
                more => read += more,
            }
        }
        Ok(if read == HEAD_BYTES { Self::decode(&bytes, chain) } else { None })
    }

    /// Writes the head, in one write.
    pub(crate) fn write(&self, file: &File, chain: &Chain) -> io::Result<()> {
        let mut bytes = [0_u8; HEAD_BYTES];
        bytes[..8].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.lines.to_le_bytes());
        bytes[16..16 + MAC_BYTES].copy_from_slice(&self.mac);
        let mac = chain.next(&HEAD_SEED, &bytes[..16 + MAC_BYTES]);
        bytes[16 + MAC_BYTES..].copy_from_slice(&mac);
        file.write_all_at(&bytes, 0)
    }

    fn decode(bytes: &[u8; HEAD_BYTES], chain: &Chain) -> Option<Self> {
        let (body, mac) = bytes.split_at(16 + MAC_BYTES);
        if chain.next(&HEAD_SEED, body) != mac {
            return None;
        }
        Some(Self {
            bytes: u64::from_le_bytes(body[..8].try_into().ok()?),
            lines: u64::from_le_bytes(body[8..16].try_into().ok()?),
            mac: body[16..].try_into().ok()?,
        })
    }
}
