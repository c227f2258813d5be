//! The web plugin: fetches a page as text to read, and searches the web.
//!
//! In the order of a call: `review` (may it run?), `fetch` or `search` (the tools). Below `fetch`: `exchange`
//! (requests and redirects), `body` (bytes to text), `page` (HTML to Markdown), `characters` (invisible characters),
//! `answer`.

mod fetch;
mod review;
mod search;

mod exchange;

mod body;
mod page;

mod characters;

mod answer;

use portcullis_sdk::prelude::*;

plugin! {
    name: "web",
    description: "Searches the web, and fetches pages as text to read.",
    tools: [fetch::fetch, search::search],
    dependencies: [optional http "fetch": "the pages to fetch", optional http "search": "the search engine"],
    reviewer: review::review,
}
