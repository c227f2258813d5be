//! `wasi:keyvalue/store` and `wasi:keyvalue/atomics`: the stores of a call, by key. The runtime decides where their
//! data is.

mod bucket;

#[expect(unreachable_pub, reason = "the bindings name it as public")]
pub use bucket::Bucket;

use crate::BoxFuture;

/// Maximum length of a key, in bytes. Keys are opaque: they never name a plugin or a file.
pub const STORE_KEY_BYTES_MAX: usize = 512;

/// Maximum store operations of one call. Each may wait for the disk, which all calls share. A call can read and write a
/// thousand keys several times, but cannot keep the disk busy until its time limit.
pub const STORE_OPERATIONS_MAX: u32 = 10_000;

/// Maximum bytes of keys and values that one call sends to its stores, in all. A quota limits what is stored; this
/// limits what is written. It is far more than the quota of one store, and little for a disk.
pub const STORE_WRITTEN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Why a store refuses an operation. The message is for the guest.
///
/// The SDKs recognise the beginnings of these messages, because `wasi:keyvalue` has no error codes for them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// The store would exceed its quota.
    #[error("the store is full: {0}")]
    Quota(String),
    /// The value to increment is not a number, or the sum is too large.
    #[error("it cannot be incremented: {0}")]
    NotANumber(String),
    /// The tool declares `read` and not `write`.
    #[error("the store is read-only for this tool: it declares `read` and not `write`")]
    ReadOnly,
    /// The handle belongs to a review or a hook, which cannot change anything.
    #[error("the store is read-only while a call is reviewed")]
    Reviewed,
    /// The store cannot be reached.
    #[error("the store cannot be used: {0}")]
    Unavailable(String),
}

/// A page of a store's keys, and the cursor to the next page, if there is one.
pub type StorePage = (Vec<String>, Option<u64>);

/// A store that is granted to one call, with a fixed namespace and quota. A key is never empty and never longer than
/// [`STORE_KEY_BYTES_MAX`].
pub trait Store: Send + Sync {
    /// Returns the value of a key.
    fn get(&self, key: String) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreFault>>;

    /// Returns whether a key exists.
    fn exists(&self, key: String) -> BoxFuture<'_, Result<bool, StoreFault>>;

    /// Sets the value of a key.
    fn set(&self, key: String, value: Vec<u8>) -> BoxFuture<'_, Result<(), StoreFault>>;

    /// Adds to the decimal number under a key, and returns the sum. A missing key counts as 0. No other change of the
    /// key happens between the read and the write. A store without this function refuses.
    fn increment(&self, _key: String, _delta: u64) -> BoxFuture<'_, Result<u64, StoreFault>> {
        Box::pin(async { Err(StoreFault::Unavailable("it has no atomic increment".to_owned())) })
    }

    /// Removes a key, if it exists.
    fn delete(&self, key: String) -> BoxFuture<'_, Result<(), StoreFault>>;

    /// Returns a page of keys after a cursor, in a fixed order.
    fn keys(&self, cursor: Option<u64>) -> BoxFuture<'_, Result<StorePage, StoreFault>>;
}

/// The remaining budget of a call for all its stores together.
#[derive(Debug)]
pub(crate) struct StoreBudget {
    operations: u32,
    written_bytes: u64,
}

/// Why an operation is refused before it reaches the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum StoreRefusal {
    #[error("a key must have 1 to {STORE_KEY_BYTES_MAX} bytes")]
    Key,
    #[error("a call can make at most {STORE_OPERATIONS_MAX} store operations")]
    Operations,
    #[error("a call can send at most {STORE_WRITTEN_BYTES_MAX} bytes to its stores")]
    Written,
}

impl StoreBudget {
    pub(crate) fn new() -> Self {
        Self { operations: STORE_OPERATIONS_MAX, written_bytes: STORE_WRITTEN_BYTES_MAX }
    }

    /// Takes one operation out of the budget.
    fn spend(&mut self) -> Result<(), StoreRefusal> {
        self.operations = self.operations.checked_sub(1).ok_or(StoreRefusal::Operations)?;
        Ok(())
    }

    /// Takes one operation on a key, and the bytes that it sends, out of the budget.
    fn spend_on(&mut self, key: &str, written_bytes: usize) -> Result<(), StoreRefusal> {
        // Before the check of the key, so that refused operations are limited, too.
        self.spend()?;
        if key.is_empty() || key.len() > STORE_KEY_BYTES_MAX {
            return Err(StoreRefusal::Key);
        }
        self.written_bytes = self.written_bytes.checked_sub(written_bytes as u64).ok_or(StoreRefusal::Written)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_counts_every_operation_including_refused_ones() {
        let mut budget = StoreBudget { operations: 3, written_bytes: 4 };
        assert_eq!(budget.spend_on("", 0), Err(StoreRefusal::Key));
        assert_eq!(budget.spend_on("key", 5), Err(StoreRefusal::Written));
        assert_eq!(budget.spend_on("key", 4), Ok(()));
        assert_eq!(budget.spend(), Err(StoreRefusal::Operations));
    }

    #[test]
    fn the_length_of_a_key_is_limited() {
        let mut budget = StoreBudget::new();
        assert_eq!(budget.spend_on(&"k".repeat(STORE_KEY_BYTES_MAX), 0), Ok(()));
        assert_eq!(budget.spend_on(&"k".repeat(STORE_KEY_BYTES_MAX + 1), 0), Err(StoreRefusal::Key));
    }
}
