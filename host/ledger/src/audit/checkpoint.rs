//! The checkpoint of the audit log, in the same file as the head and under a separate MAC. It has the position up to
//! which every decision has an outcome, and the newest generation of the ledger that was committed.

use super::chain::{Chain, HEAD_BYTES, MAC_BYTES};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Two numbers and a MAC.
pub(super) const CHECKPOINT_BYTES: usize = 16 + MAC_BYTES;

/// Seed of the checkpoint's MAC, so that it never equals the MAC of a line or a head.
const CHECKPOINT_SEED: [u8; MAC_BYTES] = *b"portcullis audit checkpoint, v.1";

/// The encoding of an unknown generation.
const UNKNOWN: u64 = u64::MAX;

/// The content of the checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Bytes of the log in which every decision has its outcome.
    pub(crate) settled: u64,
    /// The newest generation of the ledger that is known to be on disk.
    pub(crate) ledger: LedgerMark,
}

/// What the audit log knows about the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerMark {
    /// Unknown, because an earlier version wrote the log.
    Unknown,
    /// The generation. Zero if there was no ledger.
    Generation(u64),
}

impl LedgerMark {
    /// Returns whether a generation is newer than this mark.
    pub(super) fn is_older_than(self, generation: u64) -> bool {
        match self {
            Self::Unknown => true,
            Self::Generation(known) => known < generation,
        }
    }
}

impl Checkpoint {
    /// The checkpoint of a new audit log.
    pub(super) const EMPTY: Self = Self { settled: 0, ledger: LedgerMark::Generation(0) };

    /// The checkpoint of an audit log that an earlier version wrote.
    pub(super) const UPGRADED: Self = Self { settled: 0, ledger: LedgerMark::Unknown };

    /// Writes the checkpoint with one write.
    pub(super) fn write(self, file: &File, chain: &Chain) -> io::Result<()> {
        file.write_all_at(&self.encode(chain), HEAD_BYTES as u64)
    }

    pub(super) fn encode(self, chain: &Chain) -> [u8; CHECKPOINT_BYTES] {
        let ledger = match self.ledger {
            LedgerMark::Unknown => UNKNOWN,
            LedgerMark::Generation(generation) => generation,
        };
        let mut bytes = [0_u8; CHECKPOINT_BYTES];
        bytes[..8].copy_from_slice(&self.settled.to_le_bytes());
        bytes[8..16].copy_from_slice(&ledger.to_le_bytes());
        let mac = chain.next(&CHECKPOINT_SEED, &bytes[..16]);
        bytes[16..].copy_from_slice(&mac);
        bytes
    }

    pub(super) fn decode(bytes: &[u8], chain: &Chain) -> Option<Self> {
        let (body, mac) = bytes.split_at_checked(16)?;
        if chain.next(&CHECKPOINT_SEED, body) != mac {
            return None;
        }
        let ledger = match u64::from_le_bytes(body[8..].try_into().ok()?) {
            UNKNOWN => LedgerMark::Unknown,
            generation => LedgerMark::Generation(generation),
        };
        Some(Self { settled: u64::from_le_bytes(body[..8].try_into().ok()?), ledger })
    }
}
