//! Implements `wasi:keyvalue` with the stores of a call, within its budget.

use super::{Store, StoreFault, StoreRefusal};
use crate::handles::Unavailable;
use crate::state::StoreState;
use crate::wasi::keyvalue::{atomics, store};
use std::sync::Arc;
use wasmtime::component::Resource;

/// Maximum length of a number that an increment writes, in bytes: the digits of `u64::MAX`.
const NUMBER_BYTES_MAX: usize = 20;

/// A store that a guest has opened.
#[expect(unreachable_pub, reason = "the bindings name it as public")]
pub struct Bucket(Arc<dyn Store>);

impl StoreState {
    fn bucket(&self, bucket: &Resource<Bucket>) -> wasmtime::Result<Arc<dyn Store>> {
        Ok(Arc::clone(&self.table.get(bucket)?.0))
    }
}

impl store::Host for StoreState {
    async fn open(&mut self, identifier: String) -> wasmtime::Result<Result<Resource<Bucket>, store::Error>> {
        match self.handles.store(&identifier) {
            Ok(store) => Ok(Ok(self.table.push(Bucket(Arc::clone(store)))?)),
            Err(Unavailable::UnknownKey | Unavailable::WrongKind) => Ok(Err(store::Error::NoSuchStore)),
            Err(Unavailable::NotGranted | Unavailable::Failed) => Ok(Err(store::Error::AccessDenied)),
        }
    }
}

impl store::HostBucket for StoreState {
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
                // Not weighed, because the ledger limits the keys and bytes of a page.
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

impl atomics::Host for StoreState {
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

impl From<StoreRefusal> for store::Error {
    fn from(refused: StoreRefusal) -> Self {
        Self::Other(refused.to_string())
    }
}
