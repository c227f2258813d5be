//! The stream through which a guest writes its answer.

use super::shared_text::SharedText;
use crate::context::OUTPUT_PIECE_BYTES_MAX;
use bytes::Bytes;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

/// An output stream that passes each piece on. A guest that waits for the stream waits until the host takes another.
pub(super) struct OutputTextStream(SharedText);

impl OutputTextStream {
    pub(super) fn new(text: SharedText) -> Self {
        Self(text)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for OutputTextStream {
    async fn ready(&mut self) {
        self.0.host().output_room().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for OutputTextStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > OUTPUT_PIECE_BYTES_MAX {
            return Err(StreamError::trap("the write is longer than `check-write` permits"));
        }
        // A trap, not an error for the guest: the run must end at the limit, and a guest could ignore an error.
        self.0.write(&bytes).map_err(|full| StreamError::Trap(full.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(if self.0.host().has_output_room() { OUTPUT_PIECE_BYTES_MAX } else { 0 })
    }
}
