//! Kept outputs: answers that are too large for a reply. They are kept in the state directory under a reference, for
//! the session and principal of their call. Their total size is limited, and the oldest are removed first.
//!
//! Each output is a file in a directory that only the host uses, and the ledger has its owner. A row is written before
//! its file is created, and deleted before its file is removed. So a file without a row is always a leftover, even if a
//! process was killed. This module must not know what a call is.

mod cursor;
mod kept;
mod sweep;
mod writing;

pub use cursor::{LinePiece, OutputLines};
pub use kept::{
    KeptOutput, OUTPUTS_BYTES_DEFAULT, OutputError, OutputKeeper, Outputs, Reader, Reference, session_name,
};
pub use writing::{KeepError, OutputWriting, WholeOutput};
