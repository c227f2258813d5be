//! `wasi:keyvalue/store`: the stores of a call, by key. Where they are kept is the runtime's business.

use crate::BoxFuture;
use crate::handles::Unavailable;
use crate::state::State;
use crate::wasi::keyvalue::store;
use std::sync::Arc;
use wasmtime::component::Resource;

/// The longest key, in bytes. Keys are opaque: a guest never names a plugin or a file with one.
pub const STORE_KEY_BYTES_MAX: usize = 512;

/// Why a store does not do what it is asked. The text is for the guest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// There would be more in it than the grant allows.
    #[error("the store is full: {0}")]
    Quota(String),
    /// It cannot be reached.
    #[error("the store cannot be used: {0}")]
    Unavailable(String),
}

/// A store, granted to one call: its namespace and its quota are fixed.
pub trait Store: Send + Sync {
    /// The value of a key.
    fn get(&self, key: String) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreFault>>;

    /// Sets the value of a key.
    fn set(&self, key: String, value: Vec<u8>) -> BoxFuture<'_, Result<(), StoreFault>>;

    /// Takes a key away, where it is there.
    fn delete(&self, key: String) -> BoxFuture<'_, Result<(), StoreFault>>;

    /// Keys from a cursor on, in a fixed order, and where to go on.
    fn keys(&self, cursor: Option<u64>) -> BoxFuture<'_, Result<(Vec<String>, Option<u64>), StoreFault>>;
}

/// A store that a guest has opened.
pub struct Bucket(Arc<dyn Store>);

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
        let store = Arc::clone(&self.table.get(&bucket)?.0);
        Ok(store.get(key).await.map_err(Into::into))
    }

    async fn set(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<(), store::Error>> {
        let store = Arc::clone(&self.table.get(&bucket)?.0);
        Ok(store.set(key, value).await.map_err(Into::into))
    }

    async fn delete(&mut self, bucket: Resource<Bucket>, key: String) -> wasmtime::Result<Result<(), store::Error>> {
        let store = Arc::clone(&self.table.get(&bucket)?.0);
        Ok(store.delete(key).await.map_err(Into::into))
    }

    async fn exists(&mut self, bucket: Resource<Bucket>, key: String) -> wasmtime::Result<Result<bool, store::Error>> {
        let store = Arc::clone(&self.table.get(&bucket)?.0);
        Ok(store.get(key).await.map(|value| value.is_some()).map_err(Into::into))
    }

    async fn list_keys(
        &mut self,
        bucket: Resource<Bucket>,
        cursor: Option<u64>,
    ) -> wasmtime::Result<Result<store::KeyResponse, store::Error>> {
        let store = Arc::clone(&self.table.get(&bucket)?.0);
        let page = store.keys(cursor).await;
        Ok(page.map(|(keys, cursor)| store::KeyResponse { keys, cursor }).map_err(Into::into))
    }

    async fn drop(&mut self, bucket: Resource<Bucket>) -> wasmtime::Result<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}

impl From<StoreFault> for store::Error {
    fn from(fault: StoreFault) -> Self {
        Self::Other(fault.to_string())
    }
}
