//! Kept outputs: answers that are too large for a reply. They are kept in the state directory under a reference, for
//! the session and principal of their call. Their total size is limited, and the oldest are removed first.

pub(crate) use portcullis_ledger::outputs::{
    KeepError, LinePiece, OutputKeeper, OutputLines, OutputWriting, session_name,
};
#[doc(inline)]
pub use portcullis_ledger::outputs::{KeptOutput, OUTPUTS_BYTES_DEFAULT, OutputError, Outputs, Reader, Reference};
