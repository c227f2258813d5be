//! The HMAC that protects what the host stores: lines of the audit log, and rows of the ledger.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Returns an HMAC with this key.
#[expect(clippy::expect_used, reason = "an HMAC takes a key of any length")]
pub(crate) fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("an HMAC takes a key of any length")
}

/// Returns a key for one purpose, which `label` names. Keys of different labels do not reveal each other.
pub(crate) fn derived(key: &[u8; 32], label: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut derive = keyed(key);
    derive.update(label);
    Zeroizing::new(derive.finalize().into_bytes().into())
}
