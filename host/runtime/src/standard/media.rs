//! `output.read` of an image or a document: returns all of it as a part of the answer.

use super::call::{StandardCall, Trouble};
use crate::outputs::KeptOutput;
use portcullis_definitions::manifest::{Blob, Failure, Output, Part, Success};

/// Maximum size of an image or a document that one answer shows, in bytes. In base64 these are 5 MB, and providers
/// refuse larger images.
pub(crate) const MEDIA_BYTES_MAX: usize = 3_750_000;

/// The arguments that select lines.
const LINE_ARGUMENTS: [&str; 3] = ["offset", "limit", "column"];

pub(super) fn read(call: &StandardCall, kept: &KeptOutput) -> Result<Success, Trouble> {
    let (media_type, bytes) = (&kept.reference.media_type, kept.reference.bytes);
    if LINE_ARGUMENTS.iter().any(|name| call.arguments.contains_key(*name)) {
        let why = format!("This output is not text ({media_type}), so it has no lines. Pass only its reference.");
        return Err(Trouble::Failure(Failure::InvalidArguments(why)));
    }
    if bytes > MEDIA_BYTES_MAX as u64 {
        let why = format!(
            "This output is too large to be shown: {media_type}, {bytes} bytes, and an answer has at most \
             {MEDIA_BYTES_MAX}. Call the tool again for a smaller one, or continue without it."
        );
        return Err(Trouble::Failure(Failure::Failed(why)));
    }
    let data = call.outputs.read(call.reader(), &kept.reference.id, 0, MEDIA_BYTES_MAX)?;
    let blob = Blob { name: kept.name.clone(), media_type: media_type.clone(), data, is_kept: false };
    let part = if media_type.starts_with("image/") { Part::Image(blob) } else { Part::File(blob) };
    Ok(Success { title: None, output: Output::Parts(vec![part]), metadata: None })
}
