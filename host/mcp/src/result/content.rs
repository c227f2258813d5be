//! The parts of an answer as blocks of content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis::text::is_text_type;
use portcullis::{Blob, Part};
use rmcp::model::{ContentBlock, EmbeddedResource, ResourceContents};

/// The blocks of an answer, in its order.
pub(super) fn of(parts: &[Part], call: &str) -> Vec<ContentBlock> {
    let block = |(number, part): (usize, &Part)| match part {
        Part::Text(text) => ContentBlock::text(text.clone()),
        Part::Image(image) => ContentBlock::image(STANDARD.encode(&image.data), image.media_type.clone()),
        Part::File(file) if file.media_type.starts_with("audio/") => {
            ContentBlock::audio(STANDARD.encode(&file.data), file.media_type.clone())
        }
        Part::File(file) => ContentBlock::Resource(EmbeddedResource::new(embedded(file, call, number))),
    };
    parts.iter().enumerate().map(block).collect()
}

/// A file inside of the result. Its address says where it is from; nothing can be read there again.
fn embedded(file: &Blob, call: &str, number: usize) -> ResourceContents {
    let uri = format!("portcullis://call/{call}/part/{number}");
    let text = std::str::from_utf8(&file.data).ok().filter(|_| is_text_type(&file.media_type));
    let contents = match text {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(STANDARD.encode(&file.data), uri),
    };
    contents.with_mime_type(file.media_type.clone())
}
