//! The Web Search API of Brave. Titles and descriptions are HTML.

use portcullis_sdk::http::Url;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use super::results::{Found, collect, text};
use crate::search::hit::{Hit, Markup};

pub(super) fn request(url: &Url, query: &str, count: usize) -> Request {
    Request::get(url.to_string())
        .query("q", query)
        .query("count", count.to_string())
        .query("result_filter", "web")
        .query("text_decorations", "false")
}

pub(super) fn read(document: &Value) -> Option<Found> {
    let Some(web) = document.get("web") else {
        // A search that finds nothing has no member `web`.
        return (text(document, "type") == "search").then(Found::default);
    };
    let results = web.get("results")?.as_array()?;
    Some(collect(results, |result| {
        Hit::of(text(result, "title"), text(result, "url"), text(result, "description"), Markup::Html)
    }))
}
