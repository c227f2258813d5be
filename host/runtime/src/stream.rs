//! The text of an answer as it comes: for a caller who can show it before the call has ended.

use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Where a running call puts the pieces of its text. Nothing waits for whoever takes them: what is put there is no more
/// than what one reply holds.
#[derive(Clone, Debug)]
pub(crate) struct Pieces(UnboundedSender<Arc<str>>);

/// The text of an answer as its tool writes it, without the secrets of its requests.
///
/// It is the beginning of the text that the reply will have, and may end before it: where the text is longer than what
/// a reply holds, the rest and the notice of the cut come with the reply alone. Nothing comes of a tool that does not
/// write its answer while it runs, nor where a hook may yet withhold the answer. Hostile text: show it through
/// [`crate::text`].
#[derive(Debug)]
pub struct TextStream(UnboundedReceiver<Arc<str>>);

impl Pieces {
    pub(crate) fn new() -> (Self, TextStream) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), TextStream(receiver))
    }

    pub(crate) fn put(&self, piece: &str) {
        // Whoever has gone wants no more of it.
        let _ = self.0.send(Arc::from(piece));
    }
}

impl TextStream {
    /// Makes a stream that has ended.
    pub(crate) fn ended() -> Self {
        Pieces::new().1
    }

    /// The next piece; nothing when the request and its call are over.
    pub async fn next(&mut self) -> Option<Arc<str>> {
        self.0.recv().await
    }

    /// The next piece that is there already.
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
