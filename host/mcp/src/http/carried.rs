//! A response body that owns a value until its end. The value is dropped when the response is sent or the client
//! disconnects. A stream can also be ended early.

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that ends a body early.
type Over = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Carrying<T> {
    body: Body,
    over: Option<Over>,
    _held: T,
}

/// Keeps a value alive until the body of a response ends.
pub(crate) fn carry(response: Response, held: impl Send + Unpin + 'static) -> Response {
    response.map(|body| Body::new(Carrying { body, over: None, _held: held }))
}

/// Ends the body of a response early, as soon as `over` completes.
pub(crate) fn end_when(response: Response, over: impl Future<Output = ()> + Send + 'static) -> Response {
    response.map(|body| Body::new(Carrying { body, over: Some(Box::pin(over)), _held: () }))
}

impl<T: Unpin> http_body::Body for Carrying<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.over.as_mut().is_some_and(|over| over.as_mut().poll(context).is_ready()) {
            (self.over, self.body) = (None, Body::empty());
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.over {
            // A body that can end early must not announce a length.
            Some(_) => SizeHint::default(),
            None => self.body.size_hint(),
        }
    }
}
