//! Streams bodies: a request's under its size limit, and a response's under its size limits and timeouts, decoded and
//! redacted.

use super::call::Record;
use super::decode::Decoder;
use super::error::HttpFailure;
use super::redact_stream::StreamRedactor;
use super::tasks::Connection;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};
use wasmtime_wasi_http::{Error, WasiBody};

/// Bytes by which an encoded body may be longer than the decoded one: headers and checksums of gzip.
const ENCODED_EXTRA_BYTES: u64 = 64 * 1024;

/// The body of a request. Trailers are dropped, because no server that a plugin needs reads them, and some servers
/// treat them as headers.
pub(super) struct RequestBody {
    inner: WasiBody,
    left: u64,
    over: Arc<AtomicBool>,
    record: Record,
}

impl RequestBody {
    /// `over` turns true once the body is longer than `limit` bytes.
    pub(super) fn new(inner: WasiBody, limit: u64, over: Arc<AtomicBool>, record: Record) -> Self {
        Self { inner, left: limit, over, record }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        let Some(frame) = ready!(Pin::new(&mut this.inner).poll_frame(context)) else { return Poll::Ready(None) };
        let Ok(data) = frame?.into_data() else { return Poll::Ready(None) };
        match this.left.checked_sub(data.len() as u64) {
            Some(left) => {
                this.left = left;
                this.record.sent(data.len() as u64);
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            None => {
                this.over.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err(Error::HttpRequestBodySize(None))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The settings for reading a response's body.
pub(super) struct BodyReading {
    pub(super) decoder: Decoder,
    pub(super) redactor: StreamRedactor,
    /// Maximum length of the decoded body, in bytes.
    pub(super) limit: u64,
    pub(super) request_limit: u64,
    /// Whether the request's body exceeded its limit.
    pub(super) request_over: Arc<AtomicBool>,
    pub(super) deadline: Instant,
    /// The guest's timeout between two pieces.
    pub(super) between: Option<Duration>,
    pub(super) record: Record,
}

/// The body of a response. It owns the connection, which ends when the body ends or is dropped.
pub(super) struct ResponseBody {
    source: Option<(Incoming, Connection)>,
    reading: BodyReading,
    /// Bytes that were received and not decoded yet.
    encoded: Bytes,
    encoded_left: u64,
    decoded_left: u64,
    timer: Pin<Box<Sleep>>,
    /// The error of the next read.
    failure: Option<HttpFailure>,
}

impl ResponseBody {
    pub(super) fn new(incoming: Incoming, connection: Connection, reading: BodyReading) -> Self {
        // A response without a body closes its connection now, and not when the guest drops it.
        let source = (!incoming.is_end_stream()).then_some((incoming, connection));
        let limit = reading.limit;
        let mut body = Self {
            source,
            encoded: Bytes::new(),
            // Encoded bytes may decode to nothing, such as empty members of gzip, so they have a limit of their own.
            encoded_left: limit.saturating_add(limit / 8).saturating_add(ENCODED_EXTRA_BYTES),
            decoded_left: limit,
            timer: Box::pin(sleep_until(reading.deadline)),
            failure: None,
            reading,
        };
        body.wait();
        body
    }

    /// Sets the timer for the next piece.
    fn wait(&mut self) {
        if let Some(between) = self.reading.between {
            let next = Instant::now().checked_add(between).unwrap_or(self.reading.deadline);
            self.timer.as_mut().reset(next.min(self.reading.deadline));
        }
    }

    /// Returns the next piece for the guest, or `None` at the end.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpFailure>> {
        loop {
            if let Some(failure) = self.failure.take() {
                return Poll::Ready(Err(failure));
            }
            // The timer is polled only when nothing has arrived. A server that always sends would never reach it.
            if Instant::now() >= self.reading.deadline && self.source.is_some() {
                return Poll::Ready(Err(HttpFailure::Timeout));
            }
            let piece = if self.encoded.is_empty() {
                let Some((incoming, _)) = &mut self.source else { return Poll::Ready(Ok(None)) };
                match Pin::new(incoming).poll_frame(context) {
                    Poll::Ready(Some(frame)) => {
                        self.receive(frame)?;
                        continue;
                    }
                    Poll::Ready(None) => {
                        self.source = None;
                        let rest = self.reading.decoder.finish()?;
                        let rest = self.take(rest);
                        self.last(rest)
                    }
                    Poll::Pending => {
                        ready!(self.timer.as_mut().poll(context));
                        return Poll::Ready(Err(HttpFailure::Timeout));
                    }
                }
            } else {
                let piece = self.reading.decoder.step(&mut self.encoded)?;
                let piece = self.take(piece);
                self.redact(piece)
            };
            if !piece.is_empty() {
                return Poll::Ready(Ok(Some(piece)));
            }
        }
    }

    /// Accepts a received frame. Drops trailers.
    fn receive(&mut self, frame: Result<Frame<Bytes>, hyper::Error>) -> Result<(), HttpFailure> {
        let frame = frame.map_err(|error| {
            // A request body over its limit fails the whole connection, so it is the cause of this error.
            let over = self.reading.request_over.load(Ordering::Relaxed);
            if over { HttpFailure::RequestBody(self.reading.request_limit) } else { HttpFailure::from_hyper(&error) }
        })?;
        self.wait();
        if let Ok(data) = frame.into_data() {
            let left = self.encoded_left.checked_sub(data.len() as u64);
            self.encoded_left = left.ok_or(HttpFailure::ResponseBody(self.reading.limit))?;
            self.encoded = data;
        }
        Ok(())
    }

    /// Truncates a decoded piece to the remaining limit. If something was cut, the next read fails.
    fn take(&mut self, mut piece: Bytes) -> Bytes {
        let room = usize::try_from(self.decoded_left).unwrap_or(usize::MAX);
        if piece.len() > room {
            piece.truncate(room);
            self.failure = Some(HttpFailure::ResponseBody(self.reading.limit));
        }
        self.decoded_left -= piece.len() as u64;
        self.reading.record.received(piece.len() as u64);
        piece
    }

    /// Returns the part of the body that can be passed on after a piece: all but a fixed number of bytes at the end.
    fn redact(&mut self, piece: Bytes) -> Bytes {
        let call = self.reading.record.call();
        self.reading.redactor.look_for(call.incoming());
        let mut found = 0;
        let certain = match self.reading.redactor.push(&piece, &mut found) {
            Cow::Borrowed(_) => None,
            Cow::Owned(certain) => Some(certain.into()),
        };
        call.count_redactions(found);
        certain.unwrap_or(piece)
    }

    /// Like `redact`, including what was held back, because the body ended normally. After a failure, those bytes are
    /// never passed on.
    fn last(&mut self, piece: Bytes) -> Bytes {
        let certain = self.redact(piece);
        let mut found = 0;
        let rest = self.reading.redactor.finish(&mut found);
        self.reading.record.call().count_redactions(found);
        if rest.is_empty() { certain } else { [&certain[..], &rest].concat().into() }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        match ready!(this.poll_piece(context)) {
            Ok(piece) => Poll::Ready(piece.map(|piece| Ok(Frame::data(piece)))),
            Err(failure) => {
                // Closes the connection now, because the guest may keep the body.
                this.source = None;
                this.encoded = Bytes::new();
                this.reading.record.failed(&failure);
                Poll::Ready(Some(Err(failure.code())))
            }
        }
    }
}
