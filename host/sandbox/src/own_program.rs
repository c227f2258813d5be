//! The path of this program, with which it can start itself again as a compile worker.
//!
//! It is known only after [`init`](crate::init). A program that does not begin with `init` would run its whole `main`
//! again instead of compiling, so the sandbox never starts such a program.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

static PATH: OnceLock<Result<PathBuf, Arc<io::Error>>> = OnceLock::new();

/// Why this program cannot be started again as a compile worker.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The process has not called `portcullis::init()`.
    #[error(
        "plugins are compiled in a child process of this program, but portcullis::init() was not called: call it as \
         the first line of main, or choose Compiler::InProcess"
    )]
    NotInitialized,
    /// The system does not know the path of this program.
    #[error("the path of this program is unknown, so it cannot be started as a compile worker")]
    UnknownProgram(#[source] Arc<io::Error>),
}

/// Records the path of this program. Only the first call has an effect.
pub(crate) fn remember() {
    PATH.get_or_init(|| env::current_exe().map_err(Arc::new));
}

/// Returns the path of this program.
pub(crate) fn path() -> Result<&'static Path, WorkerError> {
    match PATH.get() {
        Some(Ok(path)) => Ok(path),
        Some(Err(error)) => Err(WorkerError::UnknownProgram(Arc::clone(error))),
        None => Err(WorkerError::NotInitialized),
    }
}
