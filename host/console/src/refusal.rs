//! The page for a request that is refused before a page sees it.

use axum::response::Response;
use http::StatusCode;
use maud::{DOCTYPE, Markup, html};

use crate::html::page;

/// Returns a short page that says what is wrong. It names nothing that the console knows.
pub(crate) fn refusal(status: StatusCode, title: &str, why: &str) -> Response {
    plain(status, title, &html! { p { (why) } })
}

/// Returns a page without the frame, for a browser that may not be signed in.
pub(crate) fn plain(status: StatusCode, title: &str, content: &Markup) -> Response {
    let body = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Portcullis" }
                link rel="icon" href="/icon.svg";
                link rel="stylesheet" href="/console.css";
            }
            body.plain { main { h1 { (title) } (content) } }
        }
    };
    page(status, body)
}
