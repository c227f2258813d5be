//! Runs work that waits for a disk or a database on threads that may block, and never on one of an async runtime.

use super::error::LedgerError;
use std::{io, thread};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// A value, or a closure with its values, that may block when it is dropped. A runtime that shuts down drops the work
/// that it has not begun, on one of its own threads. It is then dropped on a thread of its own.
struct BlockingDrop<T: Send + 'static>(Option<T>);

impl<T: Send + 'static> BlockingDrop<T> {
    fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Takes the value out, on a thread that may block.
    fn take(mut self) -> Option<T> {
        self.0.take()
    }
}

impl<T: Send + 'static> Drop for BlockingDrop<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            // If the system has no thread left, it is dropped here.
            drop(thread::Builder::new().name("portcullis-drop".to_owned()).spawn(move || drop(value)));
        }
    }
}

/// Runs blocking work on a thread that may block. Work that has begun is finished, even if this future is dropped.
pub async fn blocking<T: Send + 'static, E: From<LedgerError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let work = BlockingDrop::new(work);
    match spawn_blocking(move || work.take().map(|work| work())).await {
        Ok(Some(done)) => done,
        Ok(None) => Err(LedgerError::Io(io::ErrorKind::Interrupted.into()).into()),
        Err(error) => Err(LedgerError::Io(io::Error::other(error)).into()),
    }
}

/// Drops a value that writes to the disk or to a database when it is dropped, on a thread that may block.
pub fn drop_blocking(value: impl Send + 'static) {
    match Handle::try_current() {
        Ok(runtime) => {
            let value = BlockingDrop::new(value);
            drop(runtime.spawn_blocking(move || drop(value.take())));
        }
        // Outside of a runtime, no worker is blocked.
        Err(_) => drop(value),
    }
}

/// Drops such a value, and waits until that is done.
pub async fn dropped_blocking(value: impl Send + 'static) {
    let value = BlockingDrop::new(value);
    // An error means that the drop panicked, or that the runtime shuts down.
    let _ = spawn_blocking(move || drop(value.take())).await;
}
