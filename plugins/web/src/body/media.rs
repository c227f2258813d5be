//! The kind of content of a body.

/// Maximum length of a media type. No registered type is longer.
const TYPE_BYTES_MAX: usize = 100;

/// Number of bytes at the start of a body to guess its kind from.
const PROBE_BYTES: usize = 4_096;

/// Media types outside `text/*` that are text.
const TEXTS: [&str; 16] = [
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/ld+json",
    "application/sql",
    "application/toml",
    "application/typescript",
    "application/x-httpd-php",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-toml",
    "application/x-yaml",
    "application/xml",
    "application/xml-dtd",
    "application/yaml",
];

/// The starts of common binary files.
const SIGNATURES: [(&[u8], &str); 12] = [
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "a RIFF container, such as image/webp"),
    (b"%PDF", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ", "application/x-xz"),
    (b"\x7fELF", "an ELF program"),
    (b"\0asm", "application/wasm"),
];

/// How a body is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Converted to Markdown.
    Html,
    /// Shown as it is.
    Json,
    /// Shown as it is.
    Text,
}

/// The error for a body that is not text: its type or likely type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Binary(pub(crate) String);

/// The parsed `Content-Type` of a body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Media {
    /// The media type in lower case, without parameters; empty if the server sends none.
    pub(super) essence: String,
    pub(super) charset: Option<String>,
}

/// Parses a `Content-Type`.
pub(super) fn parse(content_type: Option<&str>) -> Media {
    let mut parts = content_type.unwrap_or_default().split(';');
    let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"/+-._".contains(&byte);
    // An error repeats the type, so it must not hide or forge text.
    if essence.len() > TYPE_BYTES_MAX || !essence.bytes().all(is_token) {
        return Media::default();
    }
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    });
    Media { essence, charset }
}

/// Returns the kind of a body.
pub(super) fn kind(media: &Media, bytes: &[u8]) -> Result<Kind, Binary> {
    let essence = media.essence.as_str();
    let kind = match essence {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "application/json" | "text/json" => Kind::Json,
        "" | "application/octet-stream" | "binary/octet-stream" => return guess(essence, bytes),
        _ if essence.ends_with("+json") => Kind::Json,
        _ if essence.starts_with("text/") || essence.ends_with("+xml") || TEXTS.contains(&essence) => Kind::Text,
        _ => return Err(Binary(essence.to_owned())),
    };
    // Many servers send `text/plain` by default, so check the bytes too.
    match looks_binary(bytes) {
        Some(what) => Err(Binary(format!("{what} that the server calls {essence}"))),
        None => Ok(kind),
    }
}

/// Guesses the kind of a body that has no useful content type.
fn guess(essence: &str, bytes: &[u8]) -> Result<Kind, Binary> {
    if let Some(what) = looks_binary(bytes) {
        return Err(Binary(what.to_owned()));
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(PROBE_BYTES)]).trim_start().to_ascii_lowercase();
    if ["<!doctype html", "<html", "<head", "<body", "<!--"].iter().any(|tag| start.starts_with(tag)) {
        Ok(Kind::Html)
    } else if std::str::from_utf8(bytes).is_ok() || essence.is_empty() {
        Ok(Kind::Text)
    } else {
        Err(Binary("binary data".to_owned()))
    }
}

/// Returns the likely type of a body that is not text.
fn looks_binary(bytes: &[u8]) -> Option<&'static str> {
    if let Some((_, what)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return Some(what);
    }
    // Text in UTF-16 has zero bytes too, so do not take it for binary data.
    let is_wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let start = &bytes[..bytes.len().min(PROBE_BYTES)];
    (!is_wide && start.contains(&0)).then_some("binary data")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(content_type: &str, bytes: &[u8]) -> Result<Kind, Binary> {
        kind(&parse(Some(content_type)), bytes)
    }

    #[test]
    fn the_content_type_decides_or_else_the_bytes() {
        let binary = |what: &str| Err(Binary(what.to_owned()));
        for (content_type, bytes, kind) in [
            ("text/html; charset=utf-8", b"x".as_slice(), Ok(Kind::Html)),
            ("Application/XHTML+XML", b"x", Ok(Kind::Html)),
            ("application/json", b"{}", Ok(Kind::Json)),
            ("application/problem+json", b"{}", Ok(Kind::Json)),
            ("text/markdown", b"# x", Ok(Kind::Text)),
            ("image/svg+xml", b"<svg/>", Ok(Kind::Text)),
            ("application/pdf", b"%PDF-1.7", binary("application/pdf")),
            ("image/png", b"\x89PNG", binary("image/png")),
            ("", b"<!DOCTYPE html><p>x", Ok(Kind::Html)),
            ("", b"plain", Ok(Kind::Text)),
            ("", b"\x89PNG\r\n", binary("image/png")),
            ("application/octet-stream", b"plain", Ok(Kind::Text)),
            ("application/octet-stream", b"\xffab", binary("binary data")),
            ("text/plain", b"a\0b", binary("binary data that the server calls text/plain")),
            ("text/plain", b"\xff\xfea\0", Ok(Kind::Text)),
            ("no\u{202e}type", b"plain", Ok(Kind::Text)),
        ] {
            assert_eq!(of(content_type, bytes), kind, "{content_type:?}");
        }
    }

    #[test]
    fn a_charset_is_read_from_its_parameter() {
        let charset = |content_type| parse(Some(content_type)).charset;
        assert_eq!(charset("text/html; charset=utf-8"), Some("utf-8".to_owned()));
        assert_eq!(charset("text/html;Charset=\"Shift_JIS\"; x=y"), Some("Shift_JIS".to_owned()));
        assert_eq!(charset("text/html"), None);
    }
}
