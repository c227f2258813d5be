//! The URIs of kept outputs: `portcullis://output/ID`, and for one page `portcullis://output/ID?offset=N&limit=N`.

use std::fmt;

/// The URI template (RFC 6570).
pub(super) const TEMPLATE: &str = "portcullis://output/{id}{?offset,limit}";

/// The part before the id.
const PREFIX: &str = "portcullis://output/";

/// The number of digits of an id.
const ID_DIGITS: usize = 32;

/// Default page size, in bytes: about 16,000 tokens, a fraction of any model's context.
const PAGE_BYTES: usize = 64 * 1024;

/// Maximum page size, in bytes: what fits in a message.
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// The address of a page of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) id: String,
    /// The start of the page, in bytes.
    pub(super) offset: u64,
    /// Maximum length of the page, in bytes.
    pub(super) limit: usize,
}

impl Address {
    /// Returns the address of the first page.
    pub(super) fn first(id: &str) -> Self {
        Self { id: id.to_owned(), offset: 0, limit: PAGE_BYTES }
    }

    /// Parses a URI. Returns `None` for anything that is not exactly such an address.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(PREFIX)?;
        let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
        let is_id = id.len() == ID_DIGITS && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let mut address = is_id.then(|| Self::first(id))?;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=')? {
                ("offset", offset) => address.offset = number(offset)?,
                ("limit", limit) => {
                    let limit = usize::try_from(number(limit)?).unwrap_or(usize::MAX);
                    address.limit = (limit > 0).then(|| limit.min(PAGE_BYTES_MAX))?;
                }
                _ => return None,
            }
        }
        Some(address)
    }
}

/// Parses a number that consists of digits only. `parse` alone would also accept a sign.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{}", self.id)?;
        match (self.offset, self.limit) {
            (0, PAGE_BYTES) => Ok(()),
            (offset, PAGE_BYTES) => write!(formatter, "?offset={offset}"),
            (offset, limit) => write!(formatter, "?offset={offset}&limit={limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn an_address_survives_a_round_trip() {
        let pages = [(0, PAGE_BYTES), (7, PAGE_BYTES), (0, 100), (u64::MAX, PAGE_BYTES_MAX)];
        for (offset, limit) in pages {
            let address = Address { id: ID.to_owned(), offset, limit };
            assert_eq!(Address::parse(&address.to_string()), Some(address));
        }
    }

    #[test]
    fn a_uri_that_is_not_exactly_an_address_is_refused() {
        let query = |query: &str| format!("{PREFIX}{ID}{query}");
        let bad = [
            String::new(),
            PREFIX.to_owned(),
            format!("{PREFIX}{ID}0"),
            format!("{PREFIX}../{ID}"),
            format!("{PREFIX}{}", ID.to_uppercase()),
            format!("file:///{ID}"),
            query("?offset=-1"),
            query("?offset=+1"),
            query("?offset=1e3"),
            query("?limit=0"),
            query("?offset=99999999999999999999"),
            query("?path=/etc/passwd"),
            query("/more"),
        ];
        for uri in bad {
            assert_eq!(Address::parse(&uri), None, "{uri}");
        }
    }
}
