//! The Search API of Tavily.

use portcullis_sdk::http::Url;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use super::results::{Found, collect, text};
use crate::search::hit::{Hit, Markup};

/// Returns a search that costs one credit and has no generated answer.
pub(super) fn request(url: &Url, query: &str, count: usize) -> Result<Request, Failure> {
    let search = json!({ "query": query, "max_results": count, "search_depth": "basic", "include_answer": false });
    Request::post(url.to_string()).json(&search)
}

pub(super) fn read(document: &Value) -> Option<Found> {
    let results = document.get("results")?.as_array()?;
    Some(collect(results, |result| {
        Hit::of(text(result, "title"), text(result, "url"), text(result, "content"), Markup::Plain)
    }))
}
