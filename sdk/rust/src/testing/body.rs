//! Bodies of played servers.

use crate::Failure;
use crate::http::body_error::BodyError;

/// Number of bytes of a played body that arrive at once: few, so that even a short body arrives in pieces.
const CHUNK_BYTES: usize = 1024;

/// The body of a played response.
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Vec<u8>,
    read: usize,
    breaks: Option<Failure>,
}

impl Body {
    /// Creates a body that fails with `breaks` after its bytes, if that is set.
    pub(super) fn new(bytes: Vec<u8>, breaks: Option<Failure>) -> Self {
        Self { bytes, read: 0, breaks }
    }

    pub(crate) fn read(&mut self) -> Result<Option<Vec<u8>>, BodyError> {
        let end = self.bytes.len().min(self.read + CHUNK_BYTES);
        let chunk = &self.bytes[self.read..end];
        self.read = end;
        match (chunk, &self.breaks) {
            ([], None) => Ok(None),
            ([], Some(Failure::Failed(text))) => Err(BodyError::Limit(Failure::Failed(text.clone()))),
            ([], Some(failure)) => Err(BodyError::Broken(failure.clone())),
            (chunk, _) => Ok(Some(chunk.to_vec())),
        }
    }
}
