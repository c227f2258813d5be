//! Seals of rows. A seal is a MAC over the columns of a row, and proves that a host with this key wrote the row.

use crate::mac::{derived, keyed};
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The label from which the key of the seals is derived, so that a seal never equals the MAC of an audit entry.
const SEAL_LABEL: &[u8] = b"portcullis ledger seal, version 1";

/// Makes and checks seals.
pub(super) struct Seal(Hmac<Sha256>);

/// The bytes of a seal.
pub(super) type Sealed = [u8; 32];

impl Seal {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        Self(keyed(&derived(key, SEAL_LABEL)))
    }

    /// Computes the seal of a row of a table. The length of each column is included, so that two different rows never
    /// have the same input.
    pub(super) fn of(&self, table: &str, members: &[&str]) -> Sealed {
        let mut mac = self.0.clone();
        for member in std::iter::once(&table).chain(members) {
            mac.update(&(member.len() as u64).to_le_bytes());
            mac.update(member.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }

    /// Returns whether the seal of a row is valid. Takes constant time.
    pub(super) fn holds(&self, table: &str, members: &[&str], seal: &[u8]) -> bool {
        let expected = self.of(table, members);
        let differ = expected.iter().zip(seal).fold(0, |differ, (a, b)| differ | (a ^ b));
        seal.len() == expected.len() && differ == 0
    }
}
