//! Stores: `wasi:keyvalue/store` and `wasi:keyvalue/atomics`.

use super::atomics::wasi::keyvalue::atomics;
use super::bindings::wasi::keyvalue::store;
use crate::Failure;

/// Prefix of the host's error for a store over its quota. The interface has no code for it.
const FULL: &str = "the store is full";
/// Prefix of the host's error for a value that is not a number.
const NOT_A_NUMBER: &str = "it cannot be incremented";
/// Prefix of the host's error if a tool that declares `read` but not `write` changes a store.
const READ_ONLY: &str = "the store is read-only";

/// The handle behind a store.
#[derive(Debug)]
pub(crate) struct Bucket {
    key: String,
    handle: store::Bucket,
}

impl Bucket {
    pub(super) fn open(key: &str) -> Result<Self, Failure> {
        match store::open(key) {
            Ok(handle) => Ok(Self { key: key.to_owned(), handle }),
            Err(error) => Err(failure(key, error)),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.handle.get(key).map_err(|error| failure(&self.key, error))
    }

    pub(crate) fn set(&self, key: &str, value: &[u8]) -> Result<(), Failure> {
        self.handle.set(key, value).map_err(|error| failure(&self.key, error))
    }

    pub(crate) fn increment(&self, key: &str, delta: u64) -> Result<u64, Failure> {
        atomics::increment(&self.handle, key, delta).map_err(|error| failure(&self.key, error))
    }

    pub(crate) fn delete(&self, key: &str) -> Result<(), Failure> {
        self.handle.delete(key).map_err(|error| failure(&self.key, error))
    }

    pub(crate) fn exists(&self, key: &str) -> Result<bool, Failure> {
        self.handle.exists(key).map_err(|error| failure(&self.key, error))
    }

    pub(crate) fn keys(&self, cursor: Option<u64>) -> Result<(Vec<String>, Option<u64>), Failure> {
        let page = self.handle.list_keys(cursor).map_err(|error| failure(&self.key, error))?;
        Ok((page.keys, page.cursor))
    }
}

fn failure(key: &str, error: store::Error) -> Failure {
    match error {
        store::Error::NoSuchStore => Failure::failed(format!("the manifest asks for no store `{key}`")),
        store::Error::AccessDenied => Failure::denied(format!("the policy grants no store `{key}` to this tool")),
        store::Error::Other(text) if text.starts_with(FULL) || text.starts_with(NOT_A_NUMBER) => Failure::Failed(text),
        store::Error::Other(text) if text.starts_with(READ_ONLY) => Failure::Denied(text),
        store::Error::Other(text) => Failure::Unavailable(text),
    }
}
