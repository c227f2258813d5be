//! Parts of outputs in a bucket of an S3-compatible store, through `object_store`.
//!
//! Its functions block, and must be called on a thread that may. A thread of the bucket drives the connections.

mod http;

use super::error::OutputError;
use super::layout::PART_BYTES;
use super::needs::OutputNeeds;
use crate::outputs_address::BucketAddress;
use crate::tls;
use http::HyperConnector;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, RetryConfig};
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How often a request is repeated that the store could not answer.
const RETRIES_MAX: usize = 3;

/// How long a request is repeated. A call waits for it.
const RETRY_TIME: Duration = Duration::from_secs(20);

/// How long an operation may take with all its requests. It is more than its retries take.
const OPERATION_TIME: Duration = Duration::from_secs(45);

/// The variable with a file of certificate authorities, as in AWS's own tools. Default: those that browsers trust.
const AUTHORITIES: &str = "AWS_CA_BUNDLE";

/// The ports of a store without an endpoint, and of the services of a cloud that give credentials.
const USUAL_PORTS: [u16; 2] = [443, 80];

/// A folder of a bucket.
pub(super) struct Bucket {
    store: AmazonS3,
    folder: Path,
    /// `None` once it is closed.
    runtime: Option<Runtime>,
}

impl Bucket {
    /// Opens a folder of a bucket. Reads the variables of the environment that begin with `AWS_`. Connects to nothing.
    pub(super) fn open(address: &BucketAddress, folder: &str) -> Result<(Self, OutputNeeds), OutputError> {
        // The errors of the library name variables, and not their values.
        let wrong = |why: String| OutputError::Place { place: address.to_string(), why };
        let builder = builder(address.bucket()).map_err(wrong)?;
        let needs = OutputNeeds { ports: ports(&builder), files: files(&builder) };
        let store = builder.build().map_err(|error| wrong(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("portcullis-bucket")
            .enable_all()
            .build()?;
        let folder = Path::from(address.prefix()).join(folder);
        Ok((Self { store, folder, runtime: Some(runtime) }, needs))
    }

    /// Writes a part.
    pub(super) fn put(&self, id: &str, number: u64, content: &[u8]) -> io::Result<()> {
        let (place, payload) = (self.place(id, number), PutPayload::from(content.to_vec()));
        self.wait(self.store.put(&place, payload)).map(drop)
    }

    /// Returns a part. `None` if there is none.
    pub(super) fn get(&self, id: &str, number: u64) -> io::Result<Option<Vec<u8>>> {
        let place = self.place(id, number);
        let read = async {
            let found = self.store.get(&place).await?;
            // A larger object is not what the host wrote, so its content does not matter.
            match found.meta.size > PART_BYTES as u64 {
                true => Ok(Vec::new()),
                false => found.bytes().await.map(|bytes| bytes.to_vec()),
            }
        };
        match self.wait(read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Removes all parts of an output.
    pub(super) fn remove(&self, id: &str) -> io::Result<()> {
        let folder = self.folder.clone().join(id);
        let listed = self.wait(self.store.list_with_delimiter(Some(&folder)))?;
        listed.objects.iter().try_for_each(|object| self.wait(self.store.delete(&object.location)))
    }

    /// Returns the names of the folders of outputs.
    pub(super) fn listed(&self) -> io::Result<Vec<String>> {
        let listed = self.wait(self.store.list_with_delimiter(Some(&self.folder)))?;
        Ok(listed.common_prefixes.iter().filter_map(|folder| folder.filename().map(str::to_owned)).collect())
    }

    fn place(&self, id: &str, number: u64) -> Path {
        self.folder.clone().join(id).join(number.to_string())
    }

    fn wait<T>(&self, work: impl Future<Output = object_store::Result<T>>) -> io::Result<T> {
        let Some(runtime) = &self.runtime else { return Err(io::ErrorKind::NotConnected.into()) };
        // A timeout must be made within a runtime, and this thread is outside of any until `block_on` polls.
        match runtime.block_on(async { tokio::time::timeout(OPERATION_TIME, work).await }) {
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
            Ok(done) => done.map_err(|error| match error {
                object_store::Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, error),
                error => io::Error::other(error),
            }),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the operator gives credentials in the environment")]
fn builder(bucket: &str) -> Result<AmazonS3Builder, String> {
    let authorities = std::env::var_os(AUTHORITIES).map(PathBuf::from);
    let tls = tls::client(authorities.as_deref()).map_err(|why| format!("{AUTHORITIES}: {why}"))?;
    let retry = RetryConfig { max_retries: RETRIES_MAX, retry_timeout: RETRY_TIME, ..RetryConfig::default() };
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
    Ok(builder.with_http_connector(HyperConnector(Arc::new(tls))))
}

/// Returns the ports to which a process connects for the store and for its credentials.
fn ports(builder: &AmazonS3Builder) -> Vec<u16> {
    let endpoints = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::StsEndpoint]
        .into_iter()
        .filter_map(|key| builder.get_config_value(&key));
    endpoints.filter_map(|endpoint| http::port(&endpoint)).chain(USUAL_PORTS).collect()
}

/// Returns the files with tokens.
fn files(builder: &AmazonS3Builder) -> Vec<PathBuf> {
    [AmazonS3ConfigKey::WebIdentityTokenFile, AmazonS3ConfigKey::ContainerAuthorizationTokenFile]
        .into_iter()
        .filter_map(|key| builder.get_config_value(&key).map(PathBuf::from))
        .collect()
}

impl Drop for Bucket {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // An async worker may drop this, and must not wait for the thread.
            runtime.shutdown_background();
        }
    }
}
