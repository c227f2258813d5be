//! A program that the policy binds, with the directories that it sees.

use super::directory::BoundDirectory;
use portcullis_policy::DependencyKey;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_sandbox::{Client, ConfineError, ProgramFile};
use std::path::PathBuf;
use std::sync::Mutex;

/// A program that the policy binds.
pub(crate) struct BoundProgram {
    path: PathBuf,
    /// The file when the host opened.
    opened: ProgramFile,
    /// The file now.
    current: Mutex<ProgramFile>,
    /// The directories that it sees, by their keys.
    pub(crate) directories: Vec<(DependencyKey, BoundDirectory)>,
    /// The client that decides and sends its requests, with its key.
    pub(crate) client: Option<(DependencyKey, Client)>,
}

impl BoundProgram {
    pub(super) fn new(
        path: PathBuf,
        file: ProgramFile,
        directories: Vec<(DependencyKey, BoundDirectory)>,
        client: Option<(DependencyKey, Client)>,
    ) -> Self {
        Self { path, opened: file.clone(), current: Mutex::new(file), directories, client }
    }

    /// Returns the file as it was identified last.
    pub(crate) fn file(&self) -> ProgramFile {
        self.current.lock_recovered().clone()
    }

    /// Returns whether the file is another one than when the host opened.
    pub(crate) fn is_replaced(&self) -> bool {
        self.file().sha256() != self.opened.sha256()
    }

    /// Identifies the file again if it changed. Blocks then.
    pub(crate) fn refresh(&self) -> Result<(), ConfineError> {
        if !self.file().is_current() {
            let file = ProgramFile::open(&self.path)?;
            *self.current.lock_recovered() = file;
        }
        Ok(())
    }
}
