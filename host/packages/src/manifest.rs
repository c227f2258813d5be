//! The manifest of an installed package: what was asked for, what was resolved, and the hash of every file.

use cap_std::fs::Dir;
use portcullis_definitions::text::sha256;
use serde::{Deserialize, Serialize};
use std::io;

use crate::bounded_file;
use crate::limits::DOCUMENT_BYTES_MAX;
use crate::program::Program;
use crate::spec::PackageSpec;
use crate::tree::{InstalledFile, InstalledLink};

/// The name of the manifest in the package's folder.
pub(crate) const MANIFEST_FILE: &str = "portcullis-package.json";

/// The version of the manifest's form.
const FORMAT: u32 = 1;

/// What was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contents {
    pub(crate) spec: PackageSpec,
    /// The platform that the packages were resolved for.
    pub(crate) platform: String,
    pub(crate) programs: Vec<Program>,
    /// Sorted by name, version and place.
    pub(crate) dependencies: Vec<Dependency>,
    /// Sorted by path.
    pub(crate) files: Vec<InstalledFile>,
    /// Sorted by path.
    pub(crate) links: Vec<InstalledLink>,
}

/// A resolved package of an installation: the package itself, or one that it needs. Its texts are untrusted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    /// Its name in the registry.
    pub name: String,
    /// Its exact version.
    pub version: String,
    /// Where npm installed it. One package can need several versions of another. Empty for PyPI.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The hash of its archive: `sha512-` and base64 for npm, `sha256:` and hexadecimal digits for PyPI. Empty if the
    /// archive of another package contains it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub integrity: String,
    /// Whether it has an installation script, which was not run. Then it may lack what the script would build or fetch.
    #[serde(default, skip_serializing_if = "is_false")]
    pub skipped_script: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A manifest that agrees with its own hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) tree_hash: String,
    pub(crate) contents: Contents,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFile {
    format: u32,
    tree_sha256: String,
    package: Contents,
}

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It cannot be read.
    #[error("cannot read {MANIFEST_FILE}: {0}")]
    Io(#[from] io::Error),
    /// It is not a manifest.
    #[error("{MANIFEST_FILE} is not a manifest of a package: {0}")]
    Form(#[from] serde_json::Error),
    /// It has another format.
    #[error("{MANIFEST_FILE} has the format {0}, but this program knows only {FORMAT}")]
    Format(u32),
    /// It does not agree with its own hash.
    #[error("{MANIFEST_FILE} does not agree with its own hash")]
    Hash,
    /// The name of its folder is another.
    #[error("the name of the folder does not agree with {MANIFEST_FILE}")]
    FolderName,
}

impl Manifest {
    /// Computes the hash over everything that was installed.
    pub(crate) fn new(contents: Contents) -> Result<Self, ManifestError> {
        let tree_hash = hash(&contents)?;
        Ok(Self { tree_hash, contents })
    }

    /// Reads the manifest of a package's folder.
    pub(crate) fn read(folder: &Dir) -> Result<Self, ManifestError> {
        let bytes = bounded_file::read(folder, MANIFEST_FILE, DOCUMENT_BYTES_MAX)?;
        let file: ManifestFile = serde_json::from_slice(&bytes)?;
        if file.format != FORMAT {
            return Err(ManifestError::Format(file.format));
        }
        // The hash is over the parsed contents. Their types refuse unknown fields, which it would not cover.
        let manifest = Self::new(file.package)?;
        match manifest.tree_hash == file.tree_sha256 {
            true => Ok(manifest),
            false => Err(ManifestError::Hash),
        }
    }

    /// Returns the text of the file.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, ManifestError> {
        let Self { tree_hash, contents } = self;
        let file = ManifestFile { format: FORMAT, tree_sha256: tree_hash.clone(), package: contents.clone() };
        Ok(serde_json::to_vec_pretty(&file)?)
    }
}

/// Returns the SHA-256 of the compact JSON, whose fields and lists have one order.
fn hash(contents: &Contents) -> Result<String, ManifestError> {
    Ok(sha256(serde_json::to_vec(contents)?))
}
