//! Kept outputs: answers that are too large for a reply. They are kept under a reference, for the session and principal
//! of their call. Their total size is limited, and the oldest are removed first.
//!
//! The ledger has the owner of each output. If the ledger is a file, the content of an output is a file in a directory
//! that only the host uses. If it is a database, the content is in parts that all hosts of the database can read. A row
//! is written before its content, and deleted before its content is removed. So content without a row is always a
//! leftover, even if a process was killed. This module must not know what a call is.

#[cfg(feature = "bucket")]
mod bucket;
#[cfg(not(feature = "bucket"))]
#[path = "absent_bucket.rs"]
mod bucket;
mod cursor;
mod error;
mod kept;
mod layout;
mod needs;
mod objects;
mod place;
mod shared;
mod sweep;
mod writing;

pub use cursor::{LinePiece, OutputLines};
pub use error::OutputError;
pub use kept::{KeptOutput, OUTPUTS_BYTES_DEFAULT, OutputKeeper, Outputs, Reader, Reference, session_name};
pub use needs::OutputNeeds;
pub use writing::{KeepError, OutputWriting, WholeOutput};
