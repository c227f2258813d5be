//! The response of an engine: a document, or an error that says what to do.

use portcullis_sdk::http::Body;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{self, Value};

use super::engine::Engine;
use super::hit::line;
use super::settings::Settings;

/// Maximum bytes of an answer. Twenty results have some tens of kilobytes.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Maximum bytes of an error to read.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// Maximum characters to show of what an engine says about an error.
const EXCUSE_CHARACTERS_MAX: usize = 300;

/// A longer time to wait is not shown: an engine that says so limits by day or month.
const WAIT_SECONDS_MAX: u64 = 24 * 60 * 60;

/// Reads the document of a response.
pub(super) fn document(settings: &Settings, response: Response) -> Result<Value, Failure> {
    let name = settings.engine.name();
    if let Some(to) = response.redirect() {
        let to = line(&to, EXCUSE_CHARACTERS_MAX);
        let text =
            format!("{name} redirects to {to}. Ask the user to set `search-url` in the policy to the final URL.");
        return Err(Failure::failed(text));
    }
    if !response.is_success() {
        return Err(refused(settings.engine, response));
    }
    let content_type = line(response.header("content-type").unwrap_or("no type"), EXCUSE_CHARACTERS_MAX);
    match response.read(BODY_BYTES_MAX)? {
        Body::Cut(bytes) => {
            let size = bytes.len();
            let text = format!("the answer of {name} is larger than {size} bytes; search for fewer results");
            Err(Failure::failed(text))
        }
        Body::Whole(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| malformed(settings, &format!("{error}, in an answer of {content_type}"))),
    }
}

/// Returns the failure for an answer that is not the expected JSON.
pub(super) fn malformed(settings: &Settings, why: &str) -> Failure {
    let (name, url) = (settings.engine.name(), &settings.url);
    Failure::failed(format!(
        "{url} answered something else than the JSON of {name}: {why}. Ask the user to check `search` and `search-url` \
         in the policy."
    ))
}

/// Returns the failure for a status other than success.
fn refused(engine: Engine, response: Response) -> Failure {
    let status = response.status();
    let wait = wait_seconds(&response);
    let body = match response.read(ERROR_BYTES_MAX) {
        Ok(Body::Whole(bytes) | Body::Cut(bytes)) => bytes,
        // The status is the failure. The body only explains it.
        Err(_) => Vec::new(),
    };
    let document: Value = serde_json::from_slice(&body).unwrap_or_default();
    let excuse = line(engine.excuse(&document), EXCUSE_CHARACTERS_MAX);
    let excuse = if excuse.is_empty() { excuse } else { format!(" It says: {excuse}") };
    let (name, advice) = (engine.name(), advice(engine, status, wait));
    let text = format!("{name} answered {status}: {advice}{excuse}");
    match status {
        408 | 425 | 429 | 500.. => Failure::unavailable(text),
        _ => Failure::failed(text),
    }
}

fn advice(engine: Engine, status: u16, wait: Option<u64>) -> String {
    let advice = match (engine, status) {
        (Engine::Searxng, 403) => {
            "it does not allow JSON. Ask the user to add `json` to `search.formats` in the settings.yml of SearXNG."
        }
        (Engine::Tavily, 432 | 433) => "the limit of the plan is used up. Do not search again; tell the user.",
        (_, 401 | 403) => {
            "it does not accept the key. Ask the user to check the secret of `http.search` in the policy."
        }
        // Brave answers so to an unknown key, too.
        (_, 400 | 422) => "it does not accept the request.",
        (_, 404) => "there is no such API. Ask the user to check `search-url` in the policy.",
        (_, 429) => {
            return match wait {
                Some(1) => "too many requests. Wait 1 second before you search again.".to_owned(),
                Some(seconds) => format!("too many requests. Wait {seconds} seconds before you search again."),
                None => "too many requests. Do not search again soon.".to_owned(),
            };
        }
        (_, 500..) => "it does not work at the moment. Search again later.",
        _ => "the search failed.",
    };
    advice.to_owned()
}

/// Returns how long to wait before the next request. Brave has its own headers, with a number for each of its limits.
fn wait_seconds(response: &Response) -> Option<u64> {
    let numbers = |name: &str| -> Vec<u64> {
        let numbers = response.header(name).unwrap_or_default().split(',');
        numbers.filter_map(|number| number.trim().parse().ok()).collect()
    };
    let retry_after = numbers("retry-after").first().copied();
    let used_up = || {
        let (resets, remaining) = (numbers("x-ratelimit-reset"), numbers("x-ratelimit-remaining"));
        resets.into_iter().zip(remaining).filter(|(_, remaining)| *remaining == 0).map(|(reset, _)| reset).max()
    };
    retry_after.or_else(used_up).filter(|seconds| *seconds <= WAIT_SECONDS_MAX)
}
