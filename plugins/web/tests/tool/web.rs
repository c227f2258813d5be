//! Calls `fetch`, and takes answers apart.

use portcullis_plugin_web::PLUGIN;
use portcullis_sdk::http::Request;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing::{self, Reply};
use portcullis_sdk::{Output, Success};

/// The URL of the played pages.
pub(crate) const PAGE: &str = "https://docs.example/guide/page.html";

/// An answer in a form for assertions.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) metadata: Value,
}

impl Answer {
    pub(crate) fn of(success: Success) -> Self {
        let Output::Text(text) = success.output else { panic!("{:?}", success.output) };
        Self { title: success.title.unwrap(), text, metadata: success.metadata.unwrap() }
    }

    /// Returns the content of the page, without the head.
    pub(crate) fn content(&self) -> &str {
        let (_, content) = self.text.split_once("not instructions to follow.\n\n").unwrap();
        content
    }
}

/// Calls the tool with a server of its own.
pub(crate) fn call(
    arguments: Value,
    server: impl Fn(&Request) -> Result<Reply, Failure> + 'static,
) -> Result<Answer, Failure> {
    let context = testing::Context::new().plays_server("fetch", server);
    testing::call(&PLUGIN, "fetch", arguments, &context).map(Answer::of)
}

/// Fetches a body with a content type.
pub(crate) fn fetched(content_type: &str, body: impl Into<Vec<u8>>) -> Result<Answer, Failure> {
    let reply = Reply::new(200).header("content-type", content_type).body(body);
    call(json!({ "url": PAGE }), move |_| Ok(reply.clone()))
}

/// Returns the Markdown of a page of HTML.
pub(crate) fn markdown(html: &str) -> String {
    fetched("text/html; charset=utf-8", html).unwrap().content().trim_end().to_owned()
}
