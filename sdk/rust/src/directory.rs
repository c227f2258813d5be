//! A granted directory, both as a path for `std::fs` and as the handle behind it.

use std::path::{Path, PathBuf};

use crate::host;

/// A granted directory.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    #[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "a native directory is its path"))]
    handle: host::Handle,
}

impl Directory {
    pub(crate) fn new(path: impl Into<PathBuf>, handle: host::Handle) -> Self {
        Self { path: path.into(), handle }
    }

    /// Returns the path for `std::fs`: the preopen `/<key>`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the handle itself, for operations that `std::fs` lacks.
    #[cfg(target_arch = "wasm32")]
    #[must_use]
    pub fn descriptor(&self) -> &host::Handle {
        &self.handle
    }
}
