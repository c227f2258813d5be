//! The web plugin: fetches a page and answers with text to read.
//!
//! In the order of a call: `review` (may it run?), `fetch` (the tool), `exchange` (requests and redirects), `body`
//! (bytes to text), `page` (HTML to Markdown), `characters` (invisible characters), `answer`.

mod fetch;
mod review;

mod exchange;

mod body;
mod page;

mod characters;

mod answer;

use portcullis_sdk::prelude::*;

plugin! {
    name: "web",
    description: "Fetches pages as text to read.",
    tools: [fetch::fetch],
    dependencies: [http "fetch": "the pages to fetch"],
    reviewer: review::review,
}
