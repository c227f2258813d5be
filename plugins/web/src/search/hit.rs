//! One result of a search. Its texts were written by others: each becomes one line without invisible characters.

use portcullis_sdk::http::Url;

use crate::characters::visible;
use crate::page;

/// Maximum characters of a title.
const TITLE_CHARACTERS_MAX: usize = 200;

/// Maximum characters of a snippet: a paragraph, which tells whether the page is worth reading.
const SNIPPET_CHARACTERS_MAX: usize = 600;

/// Maximum bytes of a link. A longer one is data.
const URL_BYTES_MAX: usize = 1_000;

/// Maximum bytes of a text to read. What is shown of it is at the beginning.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// How an engine writes its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    Plain,
    Html,
}

/// A result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) title: String,
    pub(super) url: String,
    /// Empty if the engine has none.
    pub(super) snippet: String,
}

impl Hit {
    /// Creates a result. Returns `None` if its link is not one to a web page.
    pub(super) fn of(title: &str, url: &str, snippet: &str, markup: Markup) -> Option<Self> {
        let url = Url::parse(url).ok().filter(|url| url.to_string().len() <= URL_BYTES_MAX)?;
        let plain = |text: &str, characters_max| {
            let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX.min(text.len()))];
            match markup {
                Markup::Plain => line(text, characters_max),
                Markup::Html => line(&page::text(text), characters_max),
            }
        };
        let mut title = plain(title, TITLE_CHARACTERS_MAX);
        if title.is_empty() {
            title = url.host().to_owned();
        }
        Some(Self { title, url: url.to_string(), snippet: plain(snippet, SNIPPET_CHARACTERS_MAX) })
    }
}

/// Returns the beginning of a text as one line without invisible characters.
pub(super) fn line(text: &str, characters_max: usize) -> String {
    let mut line = page::one_line(&visible(text));
    if let Some((end, _)) = line.char_indices().nth(characters_max) {
        line.truncate(end);
        line.push('…');
    }
    line
}
