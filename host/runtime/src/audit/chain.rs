//! The chain of MACs, and the sizes that follow from it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The bytes of a MAC.
pub(crate) const MAC_BYTES: usize = 32;

/// The longest line, in bytes: what is recorded of a call is digests, names, and two texts of 4 KiB, of which every
/// byte may become an escape of six, and some of them two.
pub(crate) const LINE_BYTES_MAX: usize = 128 * 1024;

/// What the first line is chained to.
pub(crate) const GENESIS: [u8; MAC_BYTES] = [0; MAC_BYTES];

/// Makes and checks MACs.
#[derive(Clone)]
pub(crate) struct Chain(Hmac<Sha256>);

impl Chain {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        // HMAC takes a key of up to a block as it is, padded with zeros (RFC 2104).
        let mut block = [0_u8; 64];
        block[..32].copy_from_slice(key);
        Self(Hmac::new(&block.into()))
    }

    /// The MAC of bytes that follow what has the MAC `previous`.
    pub(crate) fn next(&self, previous: &[u8; MAC_BYTES], bytes: &[u8]) -> [u8; MAC_BYTES] {
        let mut mac = self.0.clone();
        mac.update(previous);
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }
}

/// The size of the head, in bytes: length, number of lines, last MAC, own MAC.
pub(super) const HEAD_BYTES: usize = 16 + 2 * MAC_BYTES;
