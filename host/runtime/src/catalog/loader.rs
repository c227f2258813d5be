//! Everything that loading needs, and how much of it runs at one time.

use super::directory::PluginDirectory;
use super::file::FileError;
use super::load_error::LoadError;
use super::observer::Observer;
use crate::audit::AuditLog;
use portcullis_sandbox::{CodeStore, Compiler, DESCRIBE_SLOTS, Engine};
use std::io;
use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Plugins that are compiled at one time at most, on a machine with as many cores. Each worker took 600 MB for CPython,
/// and uses all cores itself for a part of its time.
const COMPILATIONS_MAX: usize = 8;

/// Everything that loading needs.
pub(crate) struct Loader {
    pub(crate) engine: Engine,
    pub(crate) compiler: Compiler,
    pub(crate) store: Arc<CodeStore>,
    pub(crate) plugins: PluginDirectory,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) slots: LoadSlots,
}

/// How much of loading runs at one time.
pub(crate) struct LoadSlots {
    /// Files that are in memory while they load in the background.
    pub(super) files: Semaphore,
    pub(super) compilations: Semaphore,
    pub(super) descriptions: Semaphore,
}

impl Default for LoadSlots {
    fn default() -> Self {
        let descriptions = Semaphore::new(DESCRIBE_SLOTS as usize);
        Self { files: Semaphore::new(compilations()), compilations: Semaphore::new(compilations()), descriptions }
    }
}

/// Plugins that are compiled at one time: one for each core.
pub(super) fn compilations() -> usize {
    available_parallelism().map_or(1, usize::from).min(COMPILATIONS_MAX)
}

/// Runs work that takes long, on a thread that may wait: checking and mapping a plugin of 20 MB takes a good part of a
/// second, in which a worker of the runtime would serve nobody.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(FileError::Io(io::Error::other(error)).into()),
    }
}
