//! A program that the policy binds, with the directories that it sees.

use super::directory::BoundDirectory;
use portcullis_packages::InstalledPackage;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{DependencyKey, Escalation, Limits, ProcessBinding, ServerPolicy};
use portcullis_sandbox::{Client, ConfineError, Directory, Network, PathBase, ProgramFile, ProgramSetup};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

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
    /// Set if it is the program of an MCP server.
    pub(crate) server: Option<BoundServer>,
}

/// What the program of an MCP server is started with, and what the policy says about its tools.
pub(crate) struct BoundServer {
    pub(crate) key: DependencyKey,
    pub(crate) binding: ProcessBinding,
    pub(crate) policy: ServerPolicy,
    pub(crate) limits: Limits,
    /// The directory from which the paths of its secrets start.
    pub(crate) base: PathBase,
    pub(crate) network: Network,
    /// The package that the program comes from. It is checked before each start.
    pub(crate) package: Option<Arc<InstalledPackage>>,
}

impl BoundProgram {
    pub(super) fn new(
        path: PathBuf,
        file: ProgramFile,
        directories: Vec<(DependencyKey, BoundDirectory)>,
        client: Option<(DependencyKey, Client)>,
        server: Option<BoundServer>,
    ) -> Self {
        Self { path, opened: file.clone(), current: Mutex::new(file), directories, client, server }
    }

    /// Returns what the program is started with: what a binding says, and these directories and this client.
    pub(crate) fn setup(
        &self,
        key: &DependencyKey,
        binding: &ProcessBinding,
        directories: impl Iterator<Item = (String, Directory)>,
        client: Option<Client>,
    ) -> ProgramSetup {
        ProgramSetup {
            key: key.to_string(),
            file: self.file(),
            directories: directories.collect(),
            environment: binding.environment.clone(),
            limits: binding.limits,
            namespaces_required: binding.require.is_some(),
            client,
            escalates: binding.escalate == Escalation::Ask,
        }
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
            // The lock is free meanwhile, because opening hashes the whole file.
            let file = ProgramFile::open(&self.path)?;
            *self.current.lock_recovered() = file;
        }
        Ok(())
    }
}
