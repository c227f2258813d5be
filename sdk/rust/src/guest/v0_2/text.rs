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
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            let room = usize::try_from(self.stream.check_write().map_err(error)?).unwrap_or(usize::MAX);
            if room > 0 {
                let piece = &bytes[..bytes.len().min(room)];
                self.stream.write(piece).map_err(error)?;
                return Ok(piece.len());
            }
            self.stream.subscribe().block();
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.blocking_flush().map_err(error)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function of the error alone")]
fn error(error: StreamError) -> io::Error {
    match error {
        StreamError::Closed => io::ErrorKind::BrokenPipe.into(),
        StreamError::LastOperationFailed(error) => io::Error::other(error.to_debug_string()),
    }
}
