//! HTTP, by the client of the SDK: the standard library has none.

use portcullis_sdk::http::Method;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

/// How much of a response is read, in bytes: a test has no use for more.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// The methods that a client sends.
const METHODS: [Method; 7] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete, Method::Options];

/// What to fetch.
#[arguments]
pub(crate) struct Fetch {
    /// The URL.
    url: String,
    /// The method.
    #[serde(default = "get")]
    method: String,
    /// What is sent along.
    #[serde(default)]
    body: Option<String>,
}

fn get() -> String {
    Method::Get.name().to_owned()
}

/// Fetches a URL.
#[tool(open_world, requires(network))]
pub(crate) fn fetch(arguments: Fetch, context: &Context) -> Result<Value, Failure> {
    let method = METHODS.into_iter().find(|method| method.name() == arguments.method);
    let method = method.ok_or_else(|| Failure::invalid(format!("no request has the method {}", arguments.method)))?;
    let mut request = Request::new(method, &arguments.url).header("x-test", "conformance");
    if let Some(body) = arguments.body {
        request = request.body(body);
    }
    answer(request, context)
        .map_err(|failure| Failure::unavailable(format!("cannot fetch {}: {failure}", arguments.url)))
}

fn answer(request: Request, context: &Context) -> Result<Value, Failure> {
    let response = context.client("web")?.send(request)?;
    let (status, kind) = (response.status(), response.header("content-type").map(str::to_owned));
    Ok(json!({ "status": status, "type": kind, "body": response.text(BODY_BYTES_MAX)? }))
}
