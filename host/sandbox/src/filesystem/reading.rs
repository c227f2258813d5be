//! Input streams of files. They are charged for the bytes that were read from a file and not yet taken by the guest.

use crate::host_memory::{HostMemory, HostMemoryFull, MemoryCharge};
use bytes::Bytes;
use wasmtime_wasi::p2::{DynInputStream, InputStream, Pollable, StreamError, StreamResult};

/// Maximum bytes that wasmtime reads from a file at once, whatever a guest asks for.
const READ_BYTES_MAX: usize = 64 * 1024;

/// Bytes that wasmtime reads ahead for a guest that waits for a stream.
const READ_AHEAD_BYTES: usize = 4096;

/// Wraps a stream so that it is charged until it is dropped.
pub(super) fn charged(stream: DynInputStream, memory: &HostMemory) -> Result<DynInputStream, HostMemoryFull> {
    // Waiting for the stream cannot fail, so its read-ahead is charged from the beginning.
    Ok(Box::new(Charged { stream, charge: memory.charge(READ_AHEAD_BYTES)? }))
}

struct Charged {
    stream: DynInputStream,
    /// The largest read so far. The stream holds one at a time.
    charge: MemoryCharge,
}

impl Charged {
    fn pay_for(&mut self, bytes: usize) -> StreamResult<()> {
        self.charge.raise_to(bytes.min(READ_BYTES_MAX)).map_err(|full| StreamError::Trap(full.into()))
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Charged {
    async fn ready(&mut self) {
        self.stream.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for Charged {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.pay_for(size)?;
        self.stream.read(size)
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        // No charge, because the guest takes all bytes at once.
        self.stream.blocking_read(size).await
    }

    async fn cancel(&mut self) {
        self.stream.cancel().await;
    }
}
