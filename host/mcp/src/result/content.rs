//! Converts the parts of an answer to content blocks.

use data_encoding::BASE64;
use portcullis::text::is_text_type;
use portcullis::{Blob, Part, wording};
use rmcp::model::{ContentBlock, EmbeddedResource, ResourceContents};

/// Returns the content blocks of an answer, in the order of its parts.
pub(super) fn of(parts: &[Part], call: &str) -> Vec<ContentBlock> {
    let block = |(number, part): (usize, &Part)| match part {
        Part::Text(text) => ContentBlock::text(wording::answer(text)),
        Part::Image(image) => ContentBlock::image(BASE64.encode(&image.data), image.media_type.clone()),
        Part::File(file) if file.media_type.starts_with("audio/") => {
            ContentBlock::audio(BASE64.encode(&file.data), file.media_type.clone())
        }
        Part::File(file) => ContentBlock::Resource(EmbeddedResource::new(embedded(file, call, number))),
    };
    parts.iter().enumerate().map(block).collect()
}

/// Returns a file as an embedded resource. Its URI names the call and ends with the file's name, if it has one. Nothing
/// can be read at that URI.
fn embedded(file: &Blob, call: &str, number: usize) -> ResourceContents {
    let name = file.name.as_deref().map(|name| format!("/{}", segment(name))).unwrap_or_default();
    let uri = format!("portcullis://call/{call}/part/{number}{name}");
    let text = std::str::from_utf8(&file.data).ok().filter(|_| is_text_type(&file.media_type));
    let contents = match text {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(BASE64.encode(&file.data), uri),
    };
    contents.with_mime_type(file.media_type.clone())
}

/// Percent-encodes a name as a path segment (RFC 3986, section 3.3). Only unreserved characters stay as they are.
fn segment(name: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uri_of_a_file_ends_with_its_name() {
        let of = |name: Option<&str>| {
            let file = Blob {
                name: name.map(str::to_owned),
                media_type: "text/csv".to_owned(),
                is_kept: false,
                data: b"a".to_vec(),
            };
            match embedded(&file, "c0", 2) {
                ResourceContents::TextResourceContents { uri, .. } => uri,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(of(None), "portcullis://call/c0/part/2");
        assert_eq!(of(Some("Köln 1.csv")), "portcullis://call/c0/part/2/K%C3%B6ln%201.csv");
    }
}
