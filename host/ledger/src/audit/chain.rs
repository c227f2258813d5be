//! The MAC chain of the audit log, and the sizes of its lines and its head.

use crate::mac::keyed;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Length of a MAC, in bytes.
pub(crate) const MAC_BYTES: usize = 32;

/// Maximum length of a line, in bytes. An entry has digests, names and two texts of 4 KiB, in which every byte may
/// become an escape of six bytes, and some two escapes.
pub(crate) const LINE_BYTES_MAX: usize = 128 * 1024;

/// The MAC that the first line is chained to.
pub(crate) const GENESIS: [u8; MAC_BYTES] = [0; MAC_BYTES];

/// Makes and checks MACs.
#[derive(Clone)]
pub(crate) struct Chain(Hmac<Sha256>);

impl Chain {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(keyed(key))
    }

    /// Computes the MAC of bytes that follow a line with the MAC `previous`.
    pub(crate) fn next(&self, previous: &[u8; MAC_BYTES], bytes: &[u8]) -> [u8; MAC_BYTES] {
        let mut mac = self.0.clone();
        mac.update(previous);
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }
}

/// The size of the head, in bytes: length, number of lines, last MAC, own MAC.
pub(super) const HEAD_BYTES: usize = 16 + 2 * MAC_BYTES;
