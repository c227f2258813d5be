//! The HMAC that protects what the host stores: lines of the audit log, and rows of the ledger.

use hmac::{Hmac, KeyInit};
use sha2::Sha256;

/// Returns an HMAC with this key.
#[expect(clippy::expect_used, reason = "an HMAC takes a key of any length")]
pub(crate) fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("an HMAC takes a key of any length")
}
