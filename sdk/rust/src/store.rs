//! A key-value store that a policy grants.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::host;

/// A store. It keeps values between calls. The policy sets its quota and its scope: the plugin, one principal or one
/// session. Keys are opaque, with at most 512 bytes.
#[derive(Debug)]
pub struct Store {
    bucket: host::Bucket,
}

impl Store {
    pub(crate) fn new(bucket: host::Bucket) -> Self {
        Self { bucket }
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.bucket.get(key)
    }

    /// Sets the value of a key, and replaces an existing one.
    ///
    /// # Errors
    /// `Failed`: the store would exceed a quota; the text says which. `Unavailable`: the store cannot be used.
    pub fn set(&self, key: &str, value: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.bucket.set(key, value.as_ref())
    }

    /// Adds to the decimal number under a key, and returns the sum. A missing key counts as 0. The operation is atomic,
    /// so that no addition is lost.
    ///
    /// # Errors
    /// `Failed`: the value is not a whole number, the sum does not fit into 64 bits, or the store would exceed a quota.
    /// `Unavailable`: the store cannot be used.
    pub fn increment(&self, key: &str, delta: u64) -> Result<u64, Failure> {
        self.bucket.increment(key, delta)
    }

    /// Deletes a key. A missing key is not an error.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used.
    pub fn delete(&self, key: &str) -> Result<(), Failure> {
        self.bucket.delete(key)
    }

    /// Returns whether a key exists.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used.
    pub fn exists(&self, key: &str) -> Result<bool, Failure> {
        self.bucket.exists(key)
    }

    /// Returns all keys, in the order of their bytes.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used.
    pub fn keys(&self) -> Result<Vec<String>, Failure> {
        let mut keys = Vec::new();
        let mut cursor = None;
        loop {
            let (page, next) = self.bucket.keys(cursor)?;
            keys.extend(page);
            match next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// Returns the value of a key, parsed as JSON.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used. `Failed`: the value is not JSON of the type.
    pub fn get_json<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Failure> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        let parsed = serde_json::from_slice(&value);
        parsed
            .map(Some)
            .map_err(|error| Failure::failed(format!("the value stored under `{key}` cannot be read: {error}")))
    }

    /// Sets the value of a key as JSON.
    ///
    /// # Errors
    /// As [`Store::set`], or the value cannot be represented in JSON.
    pub fn set_json(&self, key: &str, value: &impl Serialize) -> Result<(), Failure> {
        self.set(key, serde_json::to_vec(value)?)
    }
}
