//! `wasi:keyvalue/store` and `wasi:keyvalue/atomics`: the stores of a call, by key. The runtime decides where their
//! data is.

use crate::BoxFuture;
use crate::handles::Unavailable;
use crate::state::State;
use crate::wasi::keyvalue::{atomics, store};
use std::sync::Arc;
use wasmtime::component::Resource;

/// Maximum length of a key, in bytes. Keys are opaque: they never name a plugin or a file.
pub const STORE_KEY_BYTES_MAX: usize = 512;

/// Maximum store operations of one call. Each may wait for the disk, which all calls share. A call can read and write a
/// thousand keys several times, but cannot keep the disk busy until its time limit.
pub const STORE_OPERATIONS_MAX: u32 = 10_000;

/// Maximum bytes of keys and values that one call sends to its stores, in all. A quota limits what is stored; this
/// limits what is written. It is far more than the quota of one store, and little for a disk.
pub const STORE_WRITTEN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Maximum length of a number that an increment writes, in bytes: the digits of `u64::MAX`.
const NUMBER_BYTES_MAX: usize = 20;

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
enum Refused {
    #[error("a key must have 1 to {STORE_KEY_BYTES_MAX} bytes")]
    Key,
    #[error("a call can make at most {STORE_OPERATIONS_MAX} store operations")]
    Operations,
    #[error("a call can send at most {STORE_WRITTEN_BYTES_MAX} bytes to its stores")]
    Written,
}

/// A store that a guest has opened.
#[expect(unreachable_pub, reason = "the bindings name it as public")]
pub struct Bucket(Arc<dyn Store>);

impl StoreBudget {
    pub(crate) fn new() -> Self {
        Self { operations: STORE_OPERATIONS_MAX, written_bytes: STORE_WRITTEN_BYTES_MAX }
    }

    /// Takes one operation out of the budget.
    fn spend(&mut self) -> Result<(), Refused> {
        self.operations = self.operations.checked_sub(1).ok_or(Refused::Operations)?;
        Ok(())
    }

    /// Takes one operation on a key, and the bytes that it sends, out of the budget.
    fn spend_on(&mut self, key: &str, written_bytes: usize) -> Result<(), Refused> {
        self.spend()?;
        if key.is_empty() || key.len() > STORE_KEY_BYTES_MAX {
            return Err(Refused::Key);
        }
        self.written_bytes = self.written_bytes.checked_sub(written_bytes as u64).ok_or(Refused::Written)?;
        Ok(())
    }
}

impl State {
    fn bucket(&self, bucket: &Resource<Bucket>) -> wasmtime::Result<Arc<dyn Store>> {
        Ok(Arc::clone(&self.table.get(bucket)?.0))
    }
}

impl store::Host for State {
    async fn open(&mut self, identifier: String) -> wasmtime::Result<Result<Resource<Bucket>, store::Error>> {
        match self.handles.store(&identifier) {
            Ok(store) => Ok(Ok(self.table.push(Bucket(Arc::clone(store)))?)),
            Err(Unavailable::UnknownKey | Unavailable::WrongKind) => Ok(Err(store::Error::NoSuchStore)),
            Err(Unavailable::NotGranted | Unavailable::Failed) => Ok(Err(store::Error::AccessDenied)),
        }
    }
}

impl store::HostBucket for State {
    async fn get(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> wasmtime::Result<Result<Option<Vec<u8>>, store::Error>> {
        let store = self.bucket(&bucket)?;
        if let Err(refused) = self.stores.spend_on(&key, 0) {
            return Ok(Err(refused.into()));
        }
        let value = store.get(key).await;
        if let Ok(Some(value)) = &value {
            self.weights.has_room(value.len())?;
        }
        Ok(value.map_err(Into::into))
    }

    async fn set(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<(), store::Error>> {
        let store = self.bucket(&bucket)?;
        Ok(match self.stores.spend_on(&key, key.len() + value.len()) {
            Ok(()) => store.set(key, value).await.map_err(Into::into),
            Err(refused) => Err(refused.into()),
        })
    }

    async fn delete(&mut self, bucket: Resource<Bucket>, key: String) -> wasmtime::Result<Result<(), store::Error>> {
        let store = self.bucket(&bucket)?;
        Ok(match self.stores.spend_on(&key, 0) {
            Ok(()) => store.delete(key).await.map_err(Into::into),
            Err(refused) => Err(refused.into()),
        })
    }

    async fn exists(&mut self, bucket: Resource<Bucket>, key: String) -> wasmtime::Result<Result<bool, store::Error>> {
        let store = self.bucket(&bucket)?;
        Ok(match self.stores.spend_on(&key, 0) {
            Ok(()) => store.exists(key).await.map_err(Into::into),
            Err(refused) => Err(refused.into()),
        })
    }

    async fn list_keys(
        &mut self,
        bucket: Resource<Bucket>,
        cursor: Option<u64>,
    ) -> wasmtime::Result<Result<store::KeyResponse, store::Error>> {
        let store = self.bucket(&bucket)?;
        Ok(match self.stores.spend() {
            Ok(()) => {
                let page = store.keys(cursor).await;
                page.map(|(keys, cursor)| store::KeyResponse { keys, cursor }).map_err(Into::into)
            }
            Err(refused) => Err(refused.into()),
        })
    }

    async fn drop(&mut self, bucket: Resource<Bucket>) -> wasmtime::Result<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}

impl atomics::Host for State {
    async fn increment(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        delta: u64,
    ) -> wasmtime::Result<Result<u64, store::Error>> {
        let store = self.bucket(&bucket)?;
        Ok(match self.stores.spend_on(&key, key.len() + NUMBER_BYTES_MAX) {
            Ok(()) => store.increment(key, delta).await.map_err(Into::into),
            Err(refused) => Err(refused.into()),
        })
    }
}

impl From<StoreFault> for store::Error {
    fn from(fault: StoreFault) -> Self {
        Self::Other(fault.to_string())
    }
}

impl From<Refused> for store::Error {
    fn from(refused: Refused) -> Self {
        Self::Other(refused.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_counts_every_operation_including_refused_ones() {
        let mut budget = StoreBudget { operations: 3, written_bytes: 4 };
        assert_eq!(budget.spend_on("", 0), Err(Refused::Key));
        assert_eq!(budget.spend_on("key", 5), Err(Refused::Written));
        assert_eq!(budget.spend_on("key", 4), Ok(()));
        assert_eq!(budget.spend(), Err(Refused::Operations));
    }

    #[test]
    fn the_length_of_a_key_is_limited() {
        let mut budget = StoreBudget::new();
        assert_eq!(budget.spend_on(&"k".repeat(STORE_KEY_BYTES_MAX), 0), Ok(()));
        assert_eq!(budget.spend_on(&"k".repeat(STORE_KEY_BYTES_MAX + 1), 0), Err(Refused::Key));
    }
}
