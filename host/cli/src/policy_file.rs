//! A policy file that a person named, to be looked at and trusted: read once, whole.

use crate::view::hex;
use anyhow::Context as _;
use portcullis::policy::POLICY_BYTES;
use portcullis_build::project_file;
use sha2::{Digest, Sha256};
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
        let bytes = project_file::read(path, POLICY_BYTES as u64).with_context(shown)?;
        let sha256 = hex(&Sha256::digest(&bytes).into());
        let text = String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", shown()))?;
        Ok(Self { text, sha256 })
    }
}
