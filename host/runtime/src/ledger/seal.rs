//! The seal on a row: a MAC over its members, so that a row that gives a right was written by a host with this key.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What the key of the seals is derived with, so that no seal is ever the MAC of a line of the record.
const SEAL_LABEL: &[u8] = b"portcullis ledger seal, version 1";

/// Makes and checks seals.
pub(super) struct Seal(Hmac<Sha256>);

/// The bytes of a seal.
pub(super) type Sealed = [u8; 32];

impl Seal {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let mut derive = keyed(key);
        derive.update(SEAL_LABEL);
        Self(keyed(&derive.finalize().into_bytes().into()))
    }

    /// The seal of a row of a table. Each member goes in with its length, so that no two rows read the same.
    pub(super) fn of(&self, table: &str, members: &[&str]) -> Sealed {
        let mut mac = self.0.clone();
        for member in std::iter::once(&table).chain(members) {
            mac.update(&(member.len() as u64).to_le_bytes());
            mac.update(member.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }

    /// Whether a row has the seal it should have. In constant time.
    pub(super) fn holds(&self, table: &str, members: &[&str], seal: &[u8]) -> bool {
        let expected = self.of(table, members);
        let differ = expected.iter().zip(seal).fold(0, |differ, (a, b)| differ | (a ^ b));
        seal.len() == expected.len() && differ == 0
    }
}

fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    // HMAC takes a key of up to a block as it is, padded with zeros (RFC 2104).
    let mut block = [0_u8; 64];
    block[..32].copy_from_slice(key);
    Hmac::new(&block.into())
}
