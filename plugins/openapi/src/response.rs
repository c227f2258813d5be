//! The output of a response, or its failure.

use portcullis_sdk::http::Body;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{self, Map, Value};
use portcullis_sdk::{Output, Success};

use crate::body::{essence, is_json};
use crate::text::{line, paragraph};

/// Maximum bytes of a response: below the 256 KiB at which hosts cut an output by default.
const BODY_BYTES_MAX: usize = 192 * 1024;

/// Maximum bytes of an error's body to show.
const ERROR_BYTES_MAX: usize = 2000;

/// Maximum bytes of a header to show.
const HEADER_BYTES_MAX: usize = 1000;

/// Maximum depth of a JSON body. With what is around it, it stays below the 64 levels of a host.
const BODY_DEPTH_MAX: usize = 60;

/// From here on, not every whole number has an exact floating-point value: 2^53.
const INEXACT_FROM: f64 = 9_007_199_254_740_992.0;

/// Headers that say how to continue.
const HEADERS_SHOWN: [&str; 4] = ["link", "location", "etag", "retry-after"];

/// Reads a response. Redirects are not followed: they are shown as a failure.
pub(crate) fn read(response: Response) -> Result<Success, Failure> {
    if !response.is_success() {
        return Err(failure(response));
    }
    let status = response.status();
    let media_type = essence(response.header("content-type").unwrap_or_default());
    let headers: Map<String, Value> = HEADERS_SHOWN
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), json!(line(response.header(name)?, HEADER_BYTES_MAX)))))
        .collect();
    let bytes = match response.read(BODY_BYTES_MAX)? {
        Body::Whole(bytes) => bytes,
        Body::Cut(bytes) => return Ok(of_cut(status, &media_type, &bytes)),
    };
    let output = match String::from_utf8(bytes) {
        Ok(text) => match serde_json::from_str::<Value>(&text) {
            Ok(body) if is_json(&media_type) && is_faithful(&body, 0) => {
                Output::Json(json!({ "status": status, "headers": headers, "body": body }))
            }
            _ if text.is_empty() => Output::Json(json!({ "status": status, "headers": headers })),
            _ => Output::Text(text),
        },
        Err(error) => Output::Parts(vec![of_binary(media_type, error.into_bytes())]),
    };
    Ok(Success::new(output).title(format!("Status {status}")))
}

/// Returns whether a value has all that the text had, and a host accepts it: a whole number that is too large was
/// rounded.
fn is_faithful(value: &Value, depth: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) if number.is_f64() => {
            number.as_f64().is_some_and(|number| number.fract() != 0.0 || number.abs() < INEXACT_FROM)
        }
        Value::Number(_) => true,
        Value::Array(items) => depth < BODY_DEPTH_MAX && items.iter().all(|item| is_faithful(item, depth + 1)),
        Value::Object(members) => {
            depth < BODY_DEPTH_MAX && members.values().all(|member| is_faithful(member, depth + 1))
        }
    }
}

fn of_binary(media_type: String, bytes: Vec<u8>) -> Part {
    let is_image = media_type.starts_with("image/");
    let media_type = if media_type.is_empty() { "application/octet-stream".to_owned() } else { media_type };
    let blob = Blob::new(media_type, bytes);
    if is_image { Part::Image(blob) } else { Part::File(blob) }
}

fn of_cut(status: u16, media_type: &str, bytes: &[u8]) -> Success {
    let note = format!("(the response is larger than {} KiB; only its beginning was read)", BODY_BYTES_MAX / 1024);
    let is_text = media_type.starts_with("text/") || is_json(media_type) || media_type.ends_with("xml");
    let text = if is_text { format!("{}\n{note}", String::from_utf8_lossy(bytes)) } else { note };
    Success::new(Output::Text(text)).title(format!("Status {status}"))
}

fn failure(response: Response) -> Failure {
    let status = response.status();
    let mut text = format!("the server answered {status}");
    if let Some(to) = response.redirect() {
        text.push_str(&format!(": it redirects to {}, which is not followed", line(&to, HEADER_BYTES_MAX)));
    }
    let wait = response.header("retry-after").map(|wait| line(wait, HEADER_BYTES_MAX));
    if let Some(wait) = &wait {
        text.push_str(&format!(". Retry after: {wait}"));
    }
    // If the body cannot be read, the status is still the failure to report.
    let (Body::Whole(bytes) | Body::Cut(bytes)) = response.read(BODY_BYTES_MAX).unwrap_or(Body::Whole(Vec::new()));
    let body = paragraph(&String::from_utf8_lossy(&bytes), ERROR_BYTES_MAX);
    if !body.is_empty() {
        text.push_str(&format!("\n{body}"));
    }
    match status {
        429 | 503 if wait.is_some() => Failure::unavailable(text),
        _ => Failure::failed(text),
    }
}
