//! Decodes bytes to characters as browsers do. A byte order mark comes first, then the server's charset, then the
//! page's own. A page without any of these is UTF-8 if it is valid UTF-8, and Windows-1252 otherwise.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::media::Kind;

/// Number of bytes at the start of a page to search for its charset. Browsers search 1,024.
const PROBE_BYTES: usize = 2_048;

/// Decodes a body, and returns the name of its encoding and its text. Invalid bytes become `�`.
pub(super) fn decode(said: Option<&str>, kind: Kind, bytes: &[u8]) -> (&'static str, String) {
    let label = |label: &str| Encoding::for_label(label.as_bytes());
    let written = || match kind {
        Kind::Html | Kind::Text => label(&declared(&bytes[..bytes.len().min(PROBE_BYTES)])?).map(as_read),
        // JSON is UTF-8 (RFC 8259, section 8.1).
        Kind::Json => None,
    };
    let guessed = || match kind {
        Kind::Html | Kind::Text if std::str::from_utf8(bytes).is_err() && !is_cut_utf8(bytes) => WINDOWS_1252,
        _ => UTF_8,
    };
    let encoding = said.and_then(label).or_else(written).unwrap_or_else(guessed);
    // `decode` looks for a byte order mark first, and uses its encoding instead.
    let (text, used, _) = encoding.decode(bytes);
    (used.name(), text.into_owned())
}

/// Replaces a declared UTF-16 by UTF-8: a page whose declaration is readable as ASCII is not UTF-16.
fn as_read(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding }
}

/// Returns whether bytes are UTF-8 with more than ASCII in it, except for a last character that was cut.
fn is_cut_utf8(bytes: &[u8]) -> bool {
    let is_utf8 = |until: usize| !bytes[..until].is_ascii();
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none() && is_utf8(error.valid_up_to()))
}

/// Returns the encoding that the start of a page declares, in an XML declaration or a `meta` element.
fn declared(start: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    if let Some((declaration, _)) = start.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>")) {
        return value_of(declaration, "encoding");
    }
    let start = without_comments(&start);
    let elements = start.split("<meta").skip(1).filter(|rest| rest.starts_with([' ', '\n', '\r', '\t', '/']));
    elements.filter_map(|rest| rest.split_once('>')).find_map(|(element, _)| value_of(element, "charset"))
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(part.split_once("-->").map_or("", |(_, after)| after));
    }
    kept
}

/// Returns the value after `name=`, with or without quotes.
fn value_of(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (_, after) = rest.split_once(name)?;
        if let Some(value) = after.trim_start().strip_prefix('=') {
            let value = value.trim_start().trim_start_matches(['"', '\'']);
            let end = value.find(|end: char| end.is_whitespace() || "\"';/>".contains(end)).unwrap_or(value.len());
            return Some(value[..end].to_owned());
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(said: Option<&str>, bytes: &[u8]) -> (&'static str, String) {
        decode(said, Kind::Html, bytes)
    }

    #[test]
    fn the_byte_order_mark_then_the_server_then_the_page_decides() {
        for (said, bytes, charset, text) in [
            (Some("iso-8859-1"), b"\xef\xbb\xbf\xc3\xa9".as_slice(), "UTF-8", "é"),
            (Some("koi8-r"), b"<meta charset=utf-8>\xc4\xc1", "KOI8-R", "<meta charset=utf-8>да"),
            (None, b"<meta charset='windows-1251'>\xe4\xe0", "windows-1251", "<meta charset='windows-1251'>да"),
            (Some("nonsense"), b"caf\xc3\xa9", "UTF-8", "café"),
            (None, b"caf\xc3\xa9", "UTF-8", "café"),
            (None, b"caf\xe9 \x93x\x94", "windows-1252", "café “x”"),
            (None, b"caf\xc3\xa9 \xc3", "UTF-8", "café \u{fffd}"),
            (None, b"\xff\xfeh\0i\0", "UTF-16LE", "hi"),
        ] {
            assert_eq!(decoded(said, bytes), (charset, text.to_owned()), "{bytes:?}");
        }
    }

    #[test]
    fn a_page_can_declare_its_charset_in_several_ways() {
        for (page, charset) in [
            ("<meta charset=utf-8>", Some("utf-8")),
            ("<META http-equiv=Content-Type content=\"text/html; charset=x-sjis\">", Some("x-sjis")),
            ("<meta name='charset' content='none'><meta charset = \"big5\" />", Some("big5")),
            ("<!-- <meta charset=koi8-r> --><meta charset=gbk>", Some("gbk")),
            ("<?xml version=\"1.0\" encoding=\"EUC-JP\"?><html>", Some("euc-jp")),
            ("<metadata charset=x><p>", None),
            ("<p>", None),
        ] {
            assert_eq!(declared(page.as_bytes()).as_deref(), charset, "{page}");
        }
    }

    #[test]
    fn json_is_utf_8() {
        assert_eq!(decode(None, Kind::Json, b"\"\xe9\"").0, "UTF-8");
    }
}
