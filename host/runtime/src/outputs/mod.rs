//! Outputs that are too large to be passed on whole: kept in the state directory under a reference, for the session
//! and the principal whose call made them, within a total size, the oldest going first.

use crate::ledger::LedgerError;
use jiff::Timestamp;
use portcullis_policy::Principal;
use serde::Serialize;
use std::io;

/// Where the whole of an answer is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// The reference id, 128 random bits in hexadecimal.
    pub id: String,
    /// The size of what is kept, in bytes.
    pub bytes: u64,
    /// The lines of it, where it is text.
    pub lines: Option<u64>,
    /// Its media type: `text/plain`, `application/json`, or what a part of the answer says of itself.
    pub media_type: String,
    /// Whether all of it is there: not so where the tool was stopped because it wrote without end.
    pub complete: bool,
}

/// A kept output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOutput {
    /// What it is and how large.
    pub reference: Reference,
    /// The call whose answer it is.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// When it was kept.
    pub kept_at: Timestamp,
}

/// Who reads: an output is there for the session and the principal of its call, and for no other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The session.
    pub session: &'a str,
    /// The principal.
    pub principal: &'a Principal,
}

/// Why an output cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There is none of this id that the reader may know of: it never was, it is another's, or it was trimmed.
    #[error("there is no output {0}: it was never kept, or is trimmed by now; call the tool again")]
    Unknown(String),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The file.
    #[error("the output cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// The kept outputs of a state directory. Clones share them.
#[derive(Clone, Debug)]
pub struct Outputs {}

impl Outputs {
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// What the reader may read, the newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn list(&self, _reader: Reader<'_>) -> Result<Vec<KeptOutput>, OutputError> {
        Ok(Vec::new())
    }

    /// One output.
    ///
    /// # Errors
    /// There is none, or the ledger cannot be read.
    pub fn get(&self, _reader: Reader<'_>, id: &str) -> Result<KeptOutput, OutputError> {
        Err(OutputError::Unknown(id.to_owned()))
    }

    /// At most `bytes_max` bytes of an output from `offset` on; none where it ends before.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(&self, _reader: Reader<'_>, id: &str, _offset: u64, _bytes_max: usize) -> Result<Vec<u8>, OutputError> {
        Err(OutputError::Unknown(id.to_owned()))
    }
}
