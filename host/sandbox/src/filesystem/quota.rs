//! Limits what a call writes to its directories: bytes written, and entries created.
//!
//! Bytes count when they are written and are never given back, so that a guest cannot wear out a disk by rewriting one
//! block. A hole that a guest creates in a file counts like written bytes.

use crate::host_memory::MemoryCharge;
use bytes::Bytes;
use portcullis_policy::Limits;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{DynOutputStream, FsResult, OutputStream, Pollable, StreamError, StreamResult};

/// The remaining quota of a call.
pub(super) struct WriteQuota {
    bytes: Arc<AtomicU64>,
    entries: usize,
}

impl WriteQuota {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { bytes: Arc::new(AtomicU64::new(limits.written_bytes as u64)), entries: limits.created_entries }
    }

    /// Takes one new file, directory or link out of the quota.
    pub(super) fn take_entry(&mut self) -> FsResult<()> {
        self.entries = self.entries.checked_sub(1).ok_or(ErrorCode::Quota)?;
        Ok(())
    }

    /// Takes bytes out of the quota.
    pub(super) fn take_bytes(&self, bytes: u64) -> FsResult<()> {
        if take(&self.bytes, bytes) { Ok(()) } else { Err(ErrorCode::Quota.into()) }
    }

    /// Takes the bytes of a hole out of the quota, if writing at `position` creates one after the end of `file`.
    pub(super) fn take_hole(&self, file: &File, position: u64) -> FsResult<()> {
        let hole = position.saturating_sub(file.metadata()?.len());
        if hole == 0 { Ok(()) } else { self.take_bytes(hole) }
    }

    /// Charges a stream to the quota, and adds its bytes to `written`. `charge` pays for the bytes that wait to be
    /// written.
    pub(super) fn meter(
        &self,
        stream: DynOutputStream,
        written: &Arc<AtomicU64>,
        charge: MemoryCharge,
    ) -> DynOutputStream {
        Box::new(Metered { stream, bytes: Arc::clone(&self.bytes), written: Arc::clone(written), charge })
    }
}

fn take(left: &AtomicU64, bytes: u64) -> bool {
    left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(bytes)).is_ok()
}

/// A file's output stream that stops at the quota.
struct Metered {
    stream: DynOutputStream,
    bytes: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
    /// The longest piece so far. The stream writes one at a time.
    charge: MemoryCharge,
}

fn exceeded() -> StreamError {
    // `filesystem-error-code` converts this errno to an error code for the guest.
    StreamError::LastOperationFailed(std::io::Error::from(rustix::io::Errno::NOSPC).into())
}

#[wasmtime_wasi::async_trait]
impl Pollable for Metered {
    async fn ready(&mut self) {
        self.stream.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Metered {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let length = bytes.len() as u64;
        self.charge.raise_to(bytes.len()).map_err(|full| StreamError::Trap(full.into()))?;
        // The limit of host memory ends the call. The quota is an error that the guest can handle.
        if !take(&self.bytes, length) {
            return Err(exceeded());
        }
        self.stream.write(bytes)?;
        self.written.fetch_add(length, Ordering::AcqRel);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.stream.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        let permitted = self.stream.check_write()?;
        let left = usize::try_from(self.bytes.load(Ordering::Acquire)).unwrap_or(usize::MAX);
        if left == 0 { Err(exceeded()) } else { Ok(permitted.min(left)) }
    }

    async fn cancel(&mut self) {
        self.stream.cancel().await;
    }
}
