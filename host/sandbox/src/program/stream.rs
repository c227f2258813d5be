//! What a program prints, as a stream for the guest. Nothing is read before the guest reads it.

use bytes::Bytes;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::unix::pipe;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};

/// Maximum bytes of one read: the size of a pipe.
pub(super) const READ_BYTES_MAX: usize = 64 * 1024;

/// The bytes that a program may still print.
#[derive(Debug)]
pub(super) struct OutputBudget {
    left: AtomicU64,
    pub(super) most: u64,
}

impl OutputBudget {
    pub(super) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { left: AtomicU64::new(most), most })
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Takes as many of these bytes as are left. Returns how many.
    fn take(&self, bytes: usize) -> usize {
        let mut taken = 0;
        let take = |left: u64| {
            taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes);
            Some(left - taken as u64)
        };
        // It cannot fail, because `take` always returns a number.
        let _ = self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take);
        taken
    }
}

/// A stream from a program.
pub(super) struct ProgramOutput {
    pub(super) pipe: pipe::Receiver,
    pub(super) budget: Arc<OutputBudget>,
    /// Ends the program when it has printed too much.
    pub(super) kill: tokio_util::sync::CancellationToken,
}

#[wasmtime_wasi::async_trait]
impl Pollable for ProgramOutput {
    async fn ready(&mut self) {
        if !self.budget.is_spent() {
            // The next read returns the error.
            let _ = self.pipe.readable().await;
        }
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for ProgramOutput {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if self.budget.is_spent() {
            return Err(StreamError::Closed);
        }
        let mut block = vec![0; size.min(READ_BYTES_MAX)];
        match self.pipe.try_read(&mut block) {
            // A guest may read zero bytes, which is not the end.
            Ok(0) if !block.is_empty() => Err(StreamError::Closed),
            Ok(count) => {
                block.truncate(self.budget.take(count));
                if self.budget.is_spent() {
                    self.kill.cancel();
                }
                Ok(block.into())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Bytes::new()),
            Err(error) => Err(StreamError::LastOperationFailed(error.into())),
        }
    }
}
