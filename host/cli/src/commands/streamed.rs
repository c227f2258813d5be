//! Streams the text of an answer to the terminal while its tool writes it.

use super::Context;
use crate::progress::StatusLine;
use portcullis::events::TextStream;
use portcullis::text::Lines;
use std::convert::Infallible;
use std::future::pending;
use std::io;

/// The part of an answer that is already on the screen.
pub(super) struct Streamed<'a> {
    stream: Option<TextStream>,
    shown: String,
    failed: Option<io::Error>,
    status: &'a StatusLine,
    context: &'a Context,
}

impl<'a> Streamed<'a> {
    /// Starts with nothing shown. Without a stream nothing is ever shown.
    pub(super) fn new(stream: Option<TextStream>, status: &'a StatusLine, context: &'a Context) -> Self {
        Self { stream, shown: String::new(), failed: None, status, context }
    }

    /// Shows each piece as it comes, for as long as this is polled.
    pub(super) async fn follow(&mut self) -> Infallible {
        while let Some(stream) = &mut self.stream
            && let Some(piece) = stream.next().await
        {
            self.show(&piece);
        }
        pending().await
    }

    /// Shows the pieces that have arrived since. Returns everything that was shown, as the tool wrote it.
    pub(super) fn end(mut self) -> io::Result<String> {
        while let Some(piece) = self.stream.as_mut().and_then(TextStream::try_next) {
            self.show(&piece);
        }
        self.failed.map_or(Ok(self.shown), Err)
    }

    fn show(&mut self, piece: &str) {
        self.status.clear();
        // `end` reports the error, because nothing can be returned while the call runs.
        if self.failed.is_none() {
            self.failed = self.context.terminal.print(&Lines(piece).to_string()).err();
        }
        self.shown.push_str(piece);
    }
}
