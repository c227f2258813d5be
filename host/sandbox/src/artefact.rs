//! Compiled code, before an engine maps it.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Compiled code that this process may run: the output of our compiler, or a cache entry with a valid MAC.
pub struct Artefact(ArtefactPlace);

enum ArtefactPlace {
    Memory(Vec<u8>),
    File(Arc<CodeFile>),
}

/// An entry of the cache whose MAC was checked. It begins with the code. The file stays open while an engine maps it.
pub(crate) struct CodeFile {
    file: File,
    code_bytes: usize,
    _place: OwnedSemaphorePermit,
}

impl Artefact {
    /// Takes the output of our compiler, or the content of an entry whose MAC is valid.
    pub(crate) fn in_memory(bytes: Vec<u8>) -> Self {
        Self(ArtefactPlace::Memory(bytes))
    }

    /// Takes an entry whose MAC is valid. Its first `code_bytes` bytes are the code.
    pub(crate) fn in_file(file: File, code_bytes: usize, place: OwnedSemaphorePermit) -> Self {
        Self(ArtefactPlace::File(Arc::new(CodeFile { file, code_bytes, _place: place })))
    }

    /// Returns the code. Reads it if it is in a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn bytes(&self) -> io::Result<Cow<'_, [u8]>> {
        match &self.0 {
            ArtefactPlace::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            ArtefactPlace::File(code) => {
                let mut bytes = vec![0; code.code_bytes];
                code.file.read_exact_at(&mut bytes, 0)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Returns whether the code is in a file, from which an engine maps it.
    pub fn is_in_file(&self) -> bool {
        self.file().is_some()
    }

    /// Returns the file that the code is in, if it is in one.
    pub(crate) fn file(&self) -> Option<&Arc<CodeFile>> {
        match &self.0 {
            ArtefactPlace::Memory(_) => None,
            ArtefactPlace::File(code) => Some(code),
        }
    }
}

impl CodeFile {
    /// Returns a path that opens this very file, even after an eviction has removed its name.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}
