//! Estimates how many tokens a result takes in a conversation.

use crate::reply::Reply;
use portcullis_definitions::manifest::{Blob, Output, Part};
use portcullis_definitions::text::is_text_type;
use portcullis_definitions::tokens::estimate_tokens;

/// Estimated tokens of an image: what a provider counts for one of the largest size that it does not scale down.
const IMAGE_TOKENS: u64 = 1600;

/// Estimated bytes of a document for each token. A page of a PDF has about 80 KB and 2500 tokens.
const DOCUMENT_BYTES_PER_TOKEN: u64 = 32;

/// Returns the estimated tokens of a reply, as a model gets it.
pub(super) fn of(reply: &Reply) -> u64 {
    match &reply.output {
        Some(Output::Parts(parts)) => parts.iter().map(part).sum(),
        Some(Output::Text(text) | Output::Json(text)) => estimate_tokens(text),
        None => estimate_tokens(&reply.message),
    }
}

fn part(part: &Part) -> u64 {
    match part {
        Part::Text(text) => estimate_tokens(text),
        Part::Image(_) => IMAGE_TOKENS,
        Part::File(file) => document(file),
    }
}

fn document(file: &Blob) -> u64 {
    match std::str::from_utf8(&file.data).ok().filter(|_| is_text_type(&file.media_type)) {
        Some(text) => estimate_tokens(text),
        None => (file.data.len() as u64).div_ceil(DOCUMENT_BYTES_PER_TOKEN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_part_is_counted() {
        let blob = |media_type: &str, data: &[u8]| Blob {
            name: None,
            media_type: media_type.to_owned(),
            data: data.to_vec(),
            is_kept: false,
        };
        let parts = vec![
            Part::Text("read".to_owned()),
            Part::Image(blob("image/png", &[0; 9])),
            Part::File(blob("text/csv", b"read")),
            Part::File(blob("application/pdf", &[0; 65])),
        ];
        let word = estimate_tokens("read");
        let output = Output::Parts(parts);
        let reply = Reply::completed(String::new(), String::new(), output, String::new());
        assert_eq!(of(&reply), word + IMAGE_TOKENS + word + 3);
    }
}
