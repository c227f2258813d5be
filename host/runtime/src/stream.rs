//! Streams the text of an answer, for a caller that can show it before the call has ended.

use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The sending side of a text stream. It never waits for the receiver, because all pieces together are at most as long
/// as one reply.
#[derive(Clone, Debug)]
pub(crate) struct Pieces(UnboundedSender<Arc<str>>);

/// A stream of an answer's text while the tool writes it, without the secrets of its requests.
///
/// It is the beginning of the reply's text, and may end before it: if the text is too long for a reply, the rest and
/// the notice come only with the reply. The stream is empty if the tool does not write its answer while it runs, or if
/// a hook could withhold the answer. The text is untrusted: escape it with [`crate::text`] before you show it.
#[derive(Debug)]
pub struct TextStream(UnboundedReceiver<Arc<str>>);

impl Pieces {
    pub(crate) fn new() -> (Self, TextStream) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), TextStream(receiver))
    }

    pub(crate) fn put(&self, piece: &str) {
        // The receiver may have been dropped.
        let _ = self.0.send(Arc::from(piece));
    }
}

impl TextStream {
    /// Makes a stream that has ended.
    pub(crate) fn ended() -> Self {
        Pieces::new().1
    }

    /// Waits for the next piece. Returns `None` when the request and its call have ended.
    pub async fn next(&mut self) -> Option<Arc<str>> {
        self.0.recv().await
    }

    /// Returns the next piece if one is queued.
    pub fn try_next(&mut self) -> Option<Arc<str>> {
        self.0.try_recv().ok()
    }
}

impl Stream for TextStream {
    type Item = Arc<str>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Arc<str>>> {
        self.0.poll_recv(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_a_stream_that_ends_with_the_call() {
        let (pieces, mut text) = Pieces::new();
        let mut polled = || Pin::new(&mut text).poll_next(&mut Context::from_waker(std::task::Waker::noop()));
        assert_eq!(polled(), Poll::Pending);
        pieces.put("a");
        drop(pieces);
        assert_eq!(polled(), Poll::Ready(Some(Arc::from("a"))));
        assert_eq!(polled(), Poll::Ready(None));
    }
}
