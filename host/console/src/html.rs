//! Small parts that every page uses. Untrusted text passes through [`OneLine`] or [`shown`], and then through the
//! escaping of the templates.

use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use maud::{Markup, html};
use portcullis::text::{OneLine, count_blanks};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Digits of a hash that are shown. They are enough to distinguish two versions.
const HASH_DIGITS: usize = 12;

/// Digits of the id of a call or a session that are shown.
const ID_DIGITS: usize = 8;

/// Maximum letters of an untrusted text in a table. The page of the row has all of it.
const CELL_LETTERS_MAX: usize = 120;

/// Returns a response with a page.
pub(crate) fn page(status: StatusCode, markup: Markup) -> Response {
    let mut response = Response::new(Body::from(markup.into_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// Encodes untrusted text for one line, and shortens long runs of blanks.
pub(crate) fn shown(text: &str) -> String {
    OneLine(&count_blanks(text)).to_string()
}

/// Encodes untrusted text for a cell of a table, and cuts it.
pub(crate) fn cell(text: &str) -> String {
    let whole = shown(text);
    match whole.char_indices().nth(CELL_LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

/// Returns the first digits of a hash.
pub(crate) fn hash(text: &str) -> String {
    // The text may be anything, so it is never cut within a character, and always encoded.
    OneLine(text.get(..HASH_DIGITS).unwrap_or(text)).to_string()
}

/// Returns the first digits of an id.
pub(crate) fn short(text: &str) -> String {
    let end = text.char_indices().nth(ID_DIGITS).map_or(text.len(), |(end, _)| end);
    // Only an id is cut without a mark. Other texts, such as the session of a caller, may begin alike.
    let is_id = text.len() > ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if is_id { text[..end].to_owned() } else { cell(text) }
}

/// The current time, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns a moment, relative to now. The script keeps it current and adds the local time.
pub(crate) fn ago(at: i64) -> Markup {
    let text = match between(at, now()) {
        passed if passed < Duration::from_secs(10) => "just now".to_owned(),
        passed => format!("{} ago", span(passed)),
    };
    moment(at, "ago", &text)
}

/// Returns a moment in the future, relative to now.
pub(crate) fn left(at: i64) -> Markup {
    let text = match between(now(), at) {
        left if left.is_zero() => "expired".to_owned(),
        left => format!("{} left", span(left)),
    };
    moment(at, "left", &text)
}

fn moment(at: i64, kind: &str, text: &str) -> Markup {
    let exact = exact(at);
    html! { time datetime=(exact) data-at=(at) data-kind=(kind) title=(exact) { (text) } }
}

/// Formats a moment in UTC, to the second.
pub(crate) fn exact(at: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
    let moment = jiff::Timestamp::from_second(moment.as_second()).unwrap_or_default();
    moment.to_string()
}

/// Formats a duration in the largest unit of which it has at least one.
pub(crate) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        172_800.. => format!("{} days", seconds / 86_400),
        3600.. => format!("{} h", seconds / 3600),
        60.. => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}

/// Formats a duration of a call.
pub(crate) fn duration(microseconds: u64) -> String {
    match microseconds {
        ..1000 => "< 1 ms".to_owned(),
        1000..1_000_000 => format!("{} ms", microseconds / 1000),
        1_000_000..60_000_000 => format!("{}.{} s", microseconds / 1_000_000, microseconds / 100_000 % 10),
        _ => span(Duration::from_micros(microseconds)),
    }
}

/// Formats a size.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        ..10_240 => format!("{bytes} bytes"),
        10_240..10_485_760 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

/// Formats a number of things.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

fn between(earlier: i64, later: i64) -> Duration {
    Duration::from_millis(u64::try_from(later.saturating_sub(earlier)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_encoded_and_cut() {
        assert_eq!(shown("a\u{202e}b\nc"), "a\\u{202e}b\\nc");
        assert_eq!(cell(&"x".repeat(1000)).chars().count(), CELL_LETTERS_MAX + 1);
        assert_eq!(short("0123456789abcdef"), "01234567");
        assert_eq!(short("<script>alert(1)</script>"), "<script>alert(1)</script>");
    }

    #[test]
    fn times_and_sizes_fit_a_table() {
        assert_eq!([0, 12_000, 1_250_000, 120_000_000].map(duration), ["< 1 ms", "12 ms", "1.2 s", "2 min"]);
        assert_eq!([1, 214, 20_480].map(size), ["1 byte", "214 bytes", "20 KiB"]);
        assert_eq!(exact(1_795_512_600_125), "2026-11-24T09:30:00Z");
    }
}
