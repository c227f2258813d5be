//! Kept outputs: answers that are too large for a reply. They are kept in the state directory under a reference, for
//! the session and principal of their call. Their total size is limited, and the oldest are removed first.

use portcullis_definitions::manifest::Blob;
use portcullis_definitions::text::is_text_type;
pub(crate) use portcullis_ledger::outputs::{
    KeepError, LinePiece, OutputKeeper, OutputLines, OutputWriting, WholeOutput, session_name,
};
#[doc(inline)]
pub use portcullis_ledger::outputs::{KeptOutput, OUTPUTS_BYTES_DEFAULT, OutputError, Outputs, Reader, Reference};

/// Returns a part of an answer as an output, under its name.
pub(crate) fn whole_part(part: &Blob) -> WholeOutput<'_> {
    let (name, is_text) = (part.name.as_deref(), is_text_type(&part.media_type));
    WholeOutput { bytes: &part.data, name, media_type: &part.media_type, is_text }
}
