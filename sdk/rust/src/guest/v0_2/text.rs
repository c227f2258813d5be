//! The answer of the call as a stream.

use std::io::{self, Write};

use super::bindings::portcullis::tool::output;
use super::bindings::wasi::io::streams::{OutputStream, StreamError};

/// The stream of the call's text answer.
#[derive(Debug)]
pub(crate) struct Text {
    stream: OutputStream,
}

impl Text {
    pub(super) fn open() -> Option<Self> {
        output::open_text().map(|stream| Self { stream })
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_blocking(&self.stream, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.blocking_flush().map_err(stream_error)
    }
}

/// Writes at least one byte, unless there is none.
pub(super) fn write_blocking(stream: &OutputStream, bytes: &[u8]) -> io::Result<usize> {
    if bytes.is_empty() {
        return Ok(0);
    }
    loop {
        match write_some(stream, bytes)? {
            0 => stream.subscribe().block(),
            written => return Ok(written),
        }
    }
}

/// Writes as many bytes as the stream accepts now, and returns their number.
pub(super) fn write_some(stream: &OutputStream, bytes: &[u8]) -> io::Result<usize> {
    let room = usize::try_from(stream.check_write().map_err(stream_error)?).unwrap_or(usize::MAX);
    let piece = &bytes[..bytes.len().min(room)];
    if !piece.is_empty() {
        stream.write(piece).map_err(stream_error)?;
    }
    Ok(piece.len())
}

pub(super) fn stream_error(error: StreamError) -> io::Error {
    match error {
        StreamError::Closed => io::ErrorKind::BrokenPipe.into(),
        StreamError::LastOperationFailed(error) => io::Error::other(error.to_debug_string()),
    }
}
