//! The buckets of a program that was built without the feature `bucket`. None can be opened.

use super::error::OutputError;
use super::needs::OutputNeeds;
use crate::outputs_address::BucketAddress;
use std::convert::Infallible;
use std::io;

/// A folder of a bucket, of which there is none.
pub(super) struct Bucket(Infallible);

impl Bucket {
    pub(super) fn open(address: &BucketAddress, _: &str) -> Result<(Self, OutputNeeds), OutputError> {
        let why = "this program was built without the feature `bucket`".to_owned();
        Err(OutputError::Place { place: address.to_string(), why })
    }

    pub(super) fn put(&self, _: &str, _: u64, _: &[u8]) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn get(&self, _: &str, _: u64) -> io::Result<Option<Vec<u8>>> {
        match self.0 {}
    }

    pub(super) fn remove(&self, _: &str) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn listed(&self) -> io::Result<Vec<String>> {
        match self.0 {}
    }
}
