//! Waiting for a host's answer in code that is not async: closures, helper functions and threads of a test.

use std::panic::resume_unwind;
use std::thread;
use tokio::runtime::Builder;

/// Futures that a test can wait for without `await`.
pub trait BlockOn: Future + Sized {
    /// Runs the future to its end on a thread of its own, so that this works inside and outside of a runtime.
    fn block_on(self) -> Self::Output
    where
        Self: Send,
        Self::Output: Send,
    {
        let run = || Builder::new_current_thread().enable_all().build().unwrap().block_on(self);
        thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl<F: Future> BlockOn for F {}
