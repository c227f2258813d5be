//! SearXNG, which asks other engines. Its JSON must be enabled in its settings (`search.formats`).

use portcullis_sdk::http::Url;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use super::results::{Found, collect, text};
use crate::search::hit::{Hit, Markup, line};

/// Maximum engines to name that did not answer.
const UNRESPONSIVE_TOLD: usize = 8;

/// Maximum characters of the name or the reason of such an engine.
const WORDS_CHARACTERS_MAX: usize = 60;

/// SearXNG returns a page of results, whatever the count.
pub(super) fn request(url: &Url, query: &str) -> Request {
    Request::get(url.to_string()).query("q", query).query("format", "json")
}

pub(super) fn read(document: &Value) -> Option<Found> {
    let results = document.get("results")?.as_array()?;
    let mut found = collect(results, |result| {
        Hit::of(text(result, "title"), text(result, "url"), text(result, "content"), Markup::Plain)
    });
    let silent = document.get("unresponsive_engines").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let named: Vec<String> = silent.iter().filter_map(unresponsive).take(UNRESPONSIVE_TOLD).collect();
    if !named.is_empty() {
        found.note = format!("Engines that did not answer: {}.", named.join(", "));
    }
    Some(found)
}

/// Returns the name of an engine and why it did not answer. It is an array of two texts.
fn unresponsive(engine: &Value) -> Option<String> {
    let part = |index: usize| Some(line(engine.get(index)?.as_str()?, WORDS_CHARACTERS_MAX));
    Some(format!("{} ({})", part(0)?, part(1)?))
}
