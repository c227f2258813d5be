//! Reads a plugin file with its description files.

use super::beside::Beside;
use super::file::{FileError, FileIdentity, Sighting, identity, open, plugin_name, read_whole};
use cap_std::fs::Dir;
use portcullis_sandbox::COMPONENT_BYTES_MAX;
use sha2::{Digest, Sha256};

/// A plugin's bytes and their hash, and its description files.
pub(crate) struct PluginBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sha256: [u8; 32],
    pub(crate) sighting: Sighting,
    pub(crate) beside: Beside,
}

impl PluginBytes {
    /// Hashes the bytes of a component that the application registers. It has no file, so no reload compares its
    /// sighting with anything.
    pub(crate) fn registered(bytes: Vec<u8>) -> Result<Self, FileError> {
        if bytes.len() as u64 > COMPONENT_BYTES_MAX {
            return Err(FileError::TooLarge);
        }
        let (sha256, beside) = (Sha256::digest(&bytes).into(), Beside::default());
        let sighting = Sighting { stamp: FileIdentity::default(), sha256, settled: false };
        Ok(Self { bytes, sha256, sighting, beside })
    }
}

/// Returns the stamp of a plugin file with its description files.
pub(crate) fn stamp(directory: &Dir, name: &str, beside: &Beside) -> Result<FileIdentity, FileError> {
    plugin_name(name)?;
    identity(directory, name).map(|stamp| stamp.with(beside.sha256))
}

/// Reads a plugin file.
pub(crate) fn read(directory: &Dir, name: &str, beside: Beside) -> Result<PluginBytes, FileError> {
    plugin_name(name)?;
    // Take the stamp before the content, so that a write in between changes the next stamp.
    let (file, stamp) = open(directory, name, COMPONENT_BYTES_MAX)?;
    let (stamp, settled) = (stamp.with(beside.sha256), stamp.is_settled());
    let bytes = read_whole(file, stamp, COMPONENT_BYTES_MAX)?;
    let sha256 = Sha256::digest(&bytes).into();
    Ok(PluginBytes { bytes, sha256, sighting: Sighting { stamp, sha256, settled }, beside })
}
