//! One page of an output: text that ends at a character boundary, or bytes.

use data_encoding::BASE64;
use portcullis::outputs::Reference;
use portcullis::text::is_text_type;
use rmcp::model::ResourceContents;

/// Maximum length of a UTF-8 character, in bytes.
pub(super) const CHARACTER_BYTES_MAX: usize = 4;

/// Truncates the bytes to a page. A page of text includes the whole of its last character. So every page has at least
/// one character, and the next page begins with a whole one.
pub(super) fn cut(reference: &Reference, mut bytes: Vec<u8>, limit: usize) -> Vec<u8> {
    let mut end = limit.min(bytes.len());
    if is_text_type(&reference.media_type) {
        let continues = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
        let most = bytes.len().min(limit + CHARACTER_BYTES_MAX);
        while end < most && continues(end) {
            end += 1;
        }
    }
    bytes.truncate(end);
    bytes
}

/// Returns the page as resource contents. If the media type claims text but the page is not UTF-8, it is sent as bytes.
pub(super) fn contents(reference: &Reference, page: &[u8], uri: &str) -> ResourceContents {
    let text = is_text_type(&reference.media_type).then(|| std::str::from_utf8(page).ok()).flatten();
    let contents = match text {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(BASE64.encode(page), uri),
    };
    contents.with_mime_type(reference.media_type.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(media_type: &str) -> Reference {
        Reference { id: String::new(), bytes: 0, lines: None, media_type: media_type.to_owned(), complete: true }
    }

    #[test]
    fn a_page_of_text_ends_with_a_whole_character() {
        let (plain, text) = (reference("text/plain"), "a\u{1f600}b\u{e9}c");
        for limit in 1..text.len() {
            let (mut offset, mut read) = (0, String::new());
            while offset < text.len() {
                let most = text.len().min(offset + limit + CHARACTER_BYTES_MAX);
                let page = cut(&plain, text.as_bytes()[offset..most].to_vec(), limit);
                offset += page.len();
                read.push_str(std::str::from_utf8(&page).expect("a page is text"));
            }
            assert_eq!(read, text, "{limit}");
        }
    }

    #[test]
    fn bytes_are_cut_where_the_page_ends() {
        let page = cut(&reference("image/png"), vec![0x80; 100], 10);
        assert_eq!(page.len(), 10);
    }
}
