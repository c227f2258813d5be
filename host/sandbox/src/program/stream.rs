//! What a program prints, as a stream for the guest. Nothing is read before the guest reads it.

use bytes::Bytes;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::net::unix::pipe;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};

/// Maximum bytes of one read: the size of a pipe.
pub(super) const READ_BYTES_MAX: usize = 64 * 1024;

/// The bytes that a program may still print.
#[derive(Debug)]
pub(super) struct OutputBudget {
    left: AtomicU64,
    exceeded: AtomicBool,
    pub(super) most: u64,
}

impl OutputBudget {
    pub(super) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { left: AtomicU64::new(most), exceeded: AtomicBool::new(false), most })
    }

    /// Returns whether the program has printed more.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Acquire)
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
        if taken < bytes {
            self.exceeded.store(true, Ordering::Release);
        }
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
        if !self.budget.is_exceeded() {
            // The next read returns the error.
            let _ = self.pipe.readable().await;
        }
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for ProgramOutput {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if self.budget.is_exceeded() {
            return Err(StreamError::Closed);
        }
        // Also if no byte is left: the program may be at its end, or print one more.
        let mut block = vec![0; size.min(READ_BYTES_MAX)];
        match self.pipe.try_read(&mut block) {
            // A guest may read zero bytes, which is not the end.
            Ok(0) if !block.is_empty() => Err(StreamError::Closed),
            Ok(count) => {
                block.truncate(self.budget.take(count));
                if self.budget.is_exceeded() {
                    self.kill.cancel();
                }
                Ok(block.into())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Bytes::new()),
            Err(error) => Err(StreamError::LastOperationFailed(error.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;
    use tokio_util::sync::CancellationToken;

    /// Reads all that a program prints which may print 6 bytes. Returns it, and whether the program is killed.
    async fn printed(text: &[u8]) -> (Vec<u8>, bool) {
        let (mut program, pipe) = pipe::pipe().unwrap();
        program.write_all(text).await.unwrap();
        drop(program);
        let (budget, kill) = (OutputBudget::new(6), CancellationToken::new());
        let mut output = ProgramOutput { pipe, budget: Arc::clone(&budget), kill: kill.clone() };
        let mut read = Vec::new();
        loop {
            output.ready().await;
            match output.read(4) {
                Ok(bytes) => read.extend_from_slice(&bytes),
                Err(StreamError::Closed) => break,
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(budget.is_exceeded(), kill.is_cancelled());
        (read, kill.is_cancelled())
    }

    #[tokio::test]
    async fn a_program_may_print_as_many_bytes_as_its_limit_and_no_more() {
        assert_eq!(printed(b"12345").await, (b"12345".to_vec(), false));
        assert_eq!(printed(b"123456").await, (b"123456".to_vec(), false));
        assert_eq!(printed(b"1234567").await, (b"123456".to_vec(), true));
        // The limit is at the end of a read.
        assert_eq!(printed(b"123456789012").await, (b"123456".to_vec(), true));
    }
}
