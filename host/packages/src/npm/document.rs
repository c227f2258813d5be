//! The documents that npm and its packages write.

use cap_std::fs::Dir;
use serde_json::Value;

use crate::bounded_file;
use crate::limits::DOCUMENT_BYTES_MAX;
use crate::refusal::PackageRefusal;

/// The folder of the packages in the tree.
pub(super) const MODULES: &str = "node_modules";

/// Reads a JSON document that npm or a package wrote.
pub(super) fn read_json(folder: &Dir, path: &str, document: &'static str) -> Result<Value, PackageRefusal> {
    let refused = |problem: String| PackageRefusal::Document { document, tool: "npm", problem };
    let bytes = bounded_file::read(folder, path, DOCUMENT_BYTES_MAX).map_err(|error| refused(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))
}
