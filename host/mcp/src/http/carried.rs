//! A body that carries something to its end: what an open request holds is given back when its answer is through, or
//! the client gone.

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

struct Carrying<T> {
    body: Body,
    _held: T,
}

/// Has the body of an answer keep something until it ends.
pub(crate) fn carry(response: Response, held: impl Send + Unpin + 'static) -> Response {
    response.map(|body| Body::new(Carrying { body, _held: held }))
}

impl<T: Unpin> http_body::Body for Carrying<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
