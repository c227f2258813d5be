//! What this crate needs of an HTTP client.

use bytes::Bytes;
use futures_core::Stream;
use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use thiserror::Error;

/// The body of a response.
pub type HttpBody = Pin<Box<dyn Stream<Item = Result<Bytes, ExchangeError>> + Send>>;

/// The future of a response. The body may come later.
pub type ExchangeFuture<'a> =
    Pin<Box<dyn Future<Output = Result<http::Response<HttpBody>, ExchangeError>> + Send + 'a>>;

/// An HTTP client that sends the requests for one server.
///
/// The implementation decides where a request may go, and adds the authorization. It must not follow a redirect,
/// because a redirect would carry the session to another server. It limits the headers of a response and the time to
/// connect. This crate limits the bodies, and drops the future of a call that has ended.
pub trait HttpExchange: Send + Sync + 'static {
    /// Sends a request, and returns the response as soon as its headers are there.
    fn exchange(&self, request: http::Request<Bytes>) -> ExchangeFuture<'_>;
}

/// Why there is no response, or no more of its body.
#[derive(Debug, Error)]
#[error("the HTTP request failed")]
pub struct ExchangeError(#[source] Box<dyn Error + Send + Sync>);

impl ExchangeError {
    /// Wraps the error of an HTTP client.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// Reads a body of at most `bytes_max` bytes. `None` if it is longer.
///
/// # Errors
/// The client reports an error, and the body is incomplete.
pub async fn collect_body(mut body: HttpBody, bytes_max: usize) -> Result<Option<Vec<u8>>, ExchangeError> {
    let mut collected = Vec::new();
    while let Some(part) = poll_fn(|context| body.as_mut().poll_next(context)).await {
        let part = part?;
        if collected.len() + part.len() > bytes_max {
            return Ok(None);
        }
        collected.extend_from_slice(&part);
    }
    Ok(Some(collected))
}
