//! What an ordinary plugin does: an HTTP library that knows nothing of this host.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use wstd::http::{Body, Client, Request};
use wstd::runtime::block_on;

use crate::errand::Page;

/// Gets or posts a page.
pub(crate) fn fetch(page: Page) -> Result<Value, String> {
    block_on(async move {
        let Page { url, post, headers } = page;
        let mut request = if post.is_some() { Request::post(url) } else { Request::get(url) };
        for [name, value] in headers {
            request = request.header(name, value);
        }
        let body = post.map_or_else(Body::empty, Body::from);
        let request = request.body(body).map_err(|error| error.to_string())?;
        let mut response = Client::new().send(request).await.map_err(|error| format!("{error:?}"))?;
        let status = response.status().as_u16();
        let text = response.body_mut().str_contents().await.map_err(|error| format!("{error:?}"))?;
        Ok(json!({"status": status, "body": text}))
    })
}
