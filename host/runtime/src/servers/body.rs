//! The bodies of responses, as the client of servers reads them.

use bytes::Bytes;
use futures_core::Stream;
use portcullis_sandbox::HostBody;
use portcullis_upstream::{ExchangeError, HttpBody};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Returns a body that arrives.
pub(super) fn body_of(body: HostBody) -> HttpBody {
    Box::pin(ArrivingBody(body))
}

/// Returns a body that was read already.
pub(super) fn whole_body(bytes: Vec<u8>) -> HttpBody {
    Box::pin(WholeBody(Some(Bytes::from(bytes))))
}

struct ArrivingBody(HostBody);

impl Stream for ArrivingBody {
    type Item = Result<Bytes, ExchangeError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_data(context).map(|part| part.map(|part| part.map_err(ExchangeError::new)))
    }
}

struct WholeBody(Option<Bytes>);

impl Stream for WholeBody {
    type Item = Result<Bytes, ExchangeError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}
