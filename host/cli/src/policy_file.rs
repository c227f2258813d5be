//! A policy file that a person named, to be looked at and trusted: read once, whole.

use crate::environment;
use crate::view::hex;
use anyhow::{Context as _, ensure};
use portcullis::policy::POLICY_BYTES;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// A file, read.
pub(crate) struct PolicyFile {
    pub(crate) text: String,
    /// The hash of its text: what a person trusts.
    pub(crate) sha256: String,
}

impl PolicyFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is no text that a policy could be.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = || path.display().to_string();
        let file = environment::open_named(path).with_context(shown)?;
        ensure!(file.metadata().with_context(shown)?.is_file(), "{} is not a regular file", shown());
        let mut bytes = Vec::new();
        file.take(POLICY_BYTES as u64 + 1).read_to_end(&mut bytes).with_context(shown)?;
        ensure!(bytes.len() <= POLICY_BYTES, "{} is longer than {POLICY_BYTES} bytes, which no policy is", shown());
        let sha256 = hex(&Sha256::digest(&bytes).into());
        let text = String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", shown()))?;
        Ok(Self { text, sha256 })
    }
}
