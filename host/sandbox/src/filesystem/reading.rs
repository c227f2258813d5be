//! Input streams of files, charged for the bytes that were read from a file and that the guest has not taken.

use crate::host_memory::{Charge, HostMemory, HostMemoryFull};
use bytes::Bytes;
use wasmtime_wasi::p2::{DynInputStream, InputStream, Pollable, StreamError, StreamResult};

/// The most that wasmtime reads from a file at once, in bytes, whatever a guest asks for.
const READ_BYTES_MAX: usize = 64 * 1024;

/// What wasmtime reads ahead for a guest that waits for a stream, in bytes.
const READ_AHEAD_BYTES: usize = 4096;

/// Charges a stream as long as it is there.
pub(super) fn charged(stream: DynInputStream, memory: &HostMemory) -> Result<DynInputStream, HostMemoryFull> {
    // Waiting cannot fail, so what it may read is paid for from the beginning.
    Ok(Box::new(Charged { stream, charge: memory.charge(READ_AHEAD_BYTES)? }))
}

struct Charged {
    stream: DynInputStream,
    /// The largest read so far: the stream holds one at a time.
    charge: Charge,
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
        self.pay_for(size)?;
        self.stream.blocking_read(size).await
    }

    async fn cancel(&mut self) {
        self.stream.cancel().await;
    }
}
