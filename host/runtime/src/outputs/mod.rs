//! Outputs that are too large to be passed on whole: kept in the state directory under a reference, for the session
//! and the principal whose call made them, within a total size, the oldest going first.
//!
//! The bytes of each are a file of their own in a directory that is the host's alone; the ledger knows whose they
//! are. A row is there before its file and goes before it, so that a file without a row is nobody's, whenever a
//! process was killed. It must not know what a call is.

mod cursor;
mod kept;
mod sweep;
mod writing;

pub(crate) use cursor::{Lines, Piece};
pub(crate) use kept::session_name;
pub use kept::{KeptOutput, OUTPUTS_BYTES_DEFAULT, OutputError, Outputs, Reader, Reference};
pub(crate) use writing::{KeepError, Writing};
