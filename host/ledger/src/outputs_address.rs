//! Where hosts that share a ledger keep large outputs, as the operator names it.

use std::fmt;
use std::path::PathBuf;

/// Where hosts that share a ledger keep what is large in their outputs.
///
/// ```
/// use portcullis_ledger::state_directory::{BucketAddress, OutputsAddress};
///
/// let bucket = BucketAddress::parse("s3://outputs/team-a").map(OutputsAddress::Bucket);
/// assert!(bucket.is_some_and(|bucket| bucket != OutputsAddress::Directory("/srv/outputs".into())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputsAddress {
    /// A directory that exists, and that all hosts see. They must run as one user of the system.
    Directory(PathBuf),
    /// A folder in a bucket of an S3-compatible store.
    Bucket(BucketAddress),
}

/// The address of a folder in a bucket of an S3-compatible store: `s3://BUCKET/PREFIX`. The server, the region and the
/// credentials are in the variables of the environment that AWS's own tools use: `AWS_ENDPOINT_URL`, `AWS_REGION`,
/// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketAddress {
    bucket: String,
    prefix: String,
}

impl BucketAddress {
    /// Parses an address. Returns `None` if it names no bucket.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("s3://")?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_');
        let is_bucket = !bucket.is_empty() && bucket.chars().all(is_name);
        is_bucket.then(|| Self { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
    }

    /// Returns the name of the bucket.
    #[cfg_attr(not(feature = "bucket"), expect(dead_code, reason = "no bucket can be opened"))]
    pub(crate) fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Returns the folder in it. Empty for the bucket itself.
    #[cfg_attr(not(feature = "bucket"), expect(dead_code, reason = "no bucket can be opened"))]
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }
}

impl fmt::Display for BucketAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "s3://{}/{}", self.bucket, self.prefix)
    }
}
