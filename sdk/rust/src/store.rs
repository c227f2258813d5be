//! A key-value store that a policy grants.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::host;

/// A store. It keeps what is put into it from one call to the next; the policy says how much, and for whom: the plugin,
/// one principal or one session. Keys are opaque, of 512 bytes at the most.
#[derive(Debug)]
pub struct Store {
    bucket: host::Bucket,
}

impl Store {
    pub(crate) fn new(bucket: host::Bucket) -> Self {
        Self { bucket }
    }

    /// The value of a key.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.bucket.get(key)
    }

    /// Sets the value of a key, in place of the one before.
    ///
    /// # Errors
    /// `Failed`: there would be more in the store than the policy allows; the text says of what. `Unavailable`: the
    /// store cannot be used.
    pub fn set(&self, key: &str, value: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.bucket.set(key, value.as_ref())
    }

    /// Adds to the decimal number under a key, and returns the sum. A key that is not there counts as 0. No other call
    /// changes the key between the read and the write, so that no addition is lost.
    ///
    /// # Errors
    /// `Failed`: the value is not a whole number, the sum does not fit into 64 bits, or there would be more in the
    /// store than the policy allows. `Unavailable`: the store cannot be used.
    pub fn increment(&self, key: &str, delta: u64) -> Result<u64, Failure> {
        self.bucket.increment(key, delta)
    }

    /// Takes a key away. One that is not there is no error.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used.
    pub fn delete(&self, key: &str) -> Result<(), Failure> {
        self.bucket.delete(key)
    }

    /// Whether a key is there.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used.
    pub fn exists(&self, key: &str) -> Result<bool, Failure> {
        self.bucket.exists(key)
    }

    /// All keys, in the order of their bytes.
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

    /// The value of a key, read as JSON.
    ///
    /// # Errors
    /// `Unavailable`: the store cannot be used. `Failed`: the value is not the JSON of the type.
    pub fn get_json<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Failure> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        let parsed = serde_json::from_slice(&value);
        parsed
            .map(Some)
            .map_err(|error| Failure::failed(format!("what is stored under `{key}` cannot be read: {error}")))
    }

    /// Sets the value of a key, written as JSON.
    ///
    /// # Errors
    /// As [`Store::set`], and a value that is nothing JSON can say.
    pub fn set_json(&self, key: &str, value: &impl Serialize) -> Result<(), Failure> {
        self.set(key, serde_json::to_vec(value)?)
    }
}
