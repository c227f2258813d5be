//! A guest's end of its answer.

use super::shared_text::SharedText;
use crate::context::OUTPUT_PIECE_BYTES_MAX;
use bytes::Bytes;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

/// Takes a piece at a time, and has each handed on before it takes the next.
pub(super) struct TextStream(SharedText);

impl TextStream {
    pub(super) fn new(text: SharedText) -> Self {
        Self(text)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for TextStream {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl OutputStream for TextStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > OUTPUT_PIECE_BYTES_MAX {
            return Err(StreamError::trap("more was written than `check-write` permits"));
        }
        // Not an error that the guest sees: it would have to end as the limit says, and could go on instead.
        self.0.write(&bytes).map_err(|full| StreamError::Trap(full.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(OUTPUT_PIECE_BYTES_MAX)
    }
}
