//! `wasi:keyvalue/store` and `wasi:keyvalue/atomics`: the stores of a call, by key. The runtime decides where they are
//! kept.

mod bucket;

#[expect(unreachable_pub, reason = "the bindings name it as public")]
pub use bucket::Bucket;

use crate::BoxFuture;

/// The longest key, in bytes. Keys are opaque: a guest never names a plugin or a file with one.
pub const STORE_KEY_BYTES_MAX: usize = 512;

/// The most operations on stores in one call. Each may wait for the disk, which all calls share; a thousand keys are
/// then read and written several times over, and a call cannot keep the disk busy until its time is over.
pub const STORE_OPERATIONS_MAX: u32 = 10_000;

/// The most bytes of keys and values that one call sends to its stores, in all: a quota bounds what stays, this what
/// passes through. Far more than the quota of one store, and little to a disk.
pub const STORE_WRITTEN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Why a store does not do what it is asked. The text is for the guest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// There would be more in it than the grant allows.
    #[error("the store is full: {0}")]
    Quota(String),
    /// The value to increment is not a number, or the sum is too large.
    #[error("it cannot be incremented: {0}")]
    NotANumber(String),
    /// The tool declares `read` and not `write`.
    #[error("the store is read-only for this tool: it declares `read` and not `write`")]
    ReadOnly,
    /// The handle is that of a review or a hook, which change nothing.
    #[error("the store is read-only while a call is reviewed")]
    Reviewed,
    /// It cannot be reached.
    #[error("the store cannot be used: {0}")]
    Unavailable(String),
}

/// Some keys of a store, and where to go on where there are more.
pub type StorePage = (Vec<String>, Option<u64>);

/// A store, granted to one call: its namespace and its quota are fixed. A key is never empty and never longer than
/// [`STORE_KEY_BYTES_MAX`].
pub trait Store: Send + Sync {
    /// The value of a key.
    fn get(&self, key: String) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreFault>>;

    /// Whether a key is there.
    fn exists(&self, key: String) -> BoxFuture<'_, Result<bool, StoreFault>>;

    /// Sets the value of a key.
    fn set(&self, key: String, value: Vec<u8>) -> BoxFuture<'_, Result<(), StoreFault>>;

    /// Adds to the decimal number under a key, and returns the sum. A missing key counts as 0. No other change of the
    /// key happens between the read and the write. A store without this function refuses.
    fn increment(&self, _key: String, _delta: u64) -> BoxFuture<'_, Result<u64, StoreFault>> {
        Box::pin(async { Err(StoreFault::Unavailable("it has no atomic increment".to_owned())) })
    }

    /// Takes a key away, where it is there.
    fn delete(&self, key: String) -> BoxFuture<'_, Result<(), StoreFault>>;

    /// Keys from a cursor on, in a fixed order, and where to go on.
    fn keys(&self, cursor: Option<u64>) -> BoxFuture<'_, Result<StorePage, StoreFault>>;
}

/// What a call may still do with its stores, all together.
#[derive(Debug)]
pub(crate) struct StoreBudget {
    operations: u32,
    written_bytes: u64,
}

/// Why an operation does not reach the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Refused {
    #[error("a key has 1 to {STORE_KEY_BYTES_MAX} bytes")]
    Key,
    #[error("a call may use its stores {STORE_OPERATIONS_MAX} times")]
    Operations,
    #[error("a call may send its stores {STORE_WRITTEN_BYTES_MAX} bytes")]
    Written,
}

impl StoreBudget {
    pub(crate) fn new() -> Self {
        Self { operations: STORE_OPERATIONS_MAX, written_bytes: STORE_WRITTEN_BYTES_MAX }
    }

    /// Takes one operation out of the budget.
    fn spend(&mut self) -> Result<(), Refused> {
        self.operations = self.operations.checked_sub(1).ok_or(Refused::Operations)?;
        Ok(())
    }

    /// Takes one operation on a key, which sends so many bytes, out of the budget.
    fn spend_on(&mut self, key: &str, written_bytes: usize) -> Result<(), Refused> {
        self.spend()?;
        if key.is_empty() || key.len() > STORE_KEY_BYTES_MAX {
            return Err(Refused::Key);
        }
        self.written_bytes = self.written_bytes.checked_sub(written_bytes as u64).ok_or(Refused::Written)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_counts_every_operation_and_the_refused_ones_as_well() {
        let mut budget = StoreBudget { operations: 3, written_bytes: 4 };
        assert_eq!(budget.spend_on("", 0), Err(Refused::Key));
        assert_eq!(budget.spend_on("key", 5), Err(Refused::Written));
        assert_eq!(budget.spend_on("key", 4), Ok(()));
        assert_eq!(budget.spend(), Err(Refused::Operations));
    }

    #[test]
    fn a_key_has_a_length() {
        let mut budget = StoreBudget::new();
        assert_eq!(budget.spend_on(&"k".repeat(STORE_KEY_BYTES_MAX), 0), Ok(()));
        assert_eq!(budget.spend_on(&"k".repeat(STORE_KEY_BYTES_MAX + 1), 0), Err(Refused::Key));
    }
}
