//! Reads a stream of server-sent events, none of which can be too long.

use super::backend::{ExchangeError, HttpBody};
use crate::closing::CloseReason;
use crate::traffic::Traffic;
use futures_core::Stream;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::task::consume_budget;

/// The waits that a server can demand before the stream is opened again, in milliseconds.
const RETRY_MILLISECONDS: (u64, u64) = (1000, 60_000);

/// Checks the data of an event, and returns what the library reads instead. An error ends the stream.
pub(super) type EventCheck = Box<dyn FnMut(String) -> Result<Option<String>, ExchangeError> + Send>;

/// A stream of events.
pub(super) struct EventStream {
    body: HttpBody,
    parser: EventParser,
    check: EventCheck,
    events: VecDeque<Sse>,
    has_ended: bool,
    traffic: Arc<Traffic>,
}

/// The part of an event that is read so far.
struct EventParser {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    event: Sse,
    /// Whether the last byte was a carriage return, after which a line feed belongs to the same line ending.
    after_return: bool,
    bytes_max: usize,
}

/// An event that is longer than the limit.
pub(super) struct EventTooLong;

impl EventStream {
    pub(super) fn new(body: HttpBody, bytes_max: usize, check: EventCheck, traffic: Arc<Traffic>) -> Self {
        let parser = EventParser::new(bytes_max);
        Self { body, parser, check, events: VecDeque::new(), has_ended: false, traffic }
    }

    /// Ends the stream with an error. What was read already, but not checked, is dropped.
    fn fail(&mut self, error: ExchangeError) -> Poll<Option<Result<Sse, SseError>>> {
        self.has_ended = true;
        self.events.clear();
        Poll::Ready(Some(Err(SseError::Body(Box::new(error)))))
    }
}

impl Stream for EventStream {
    type Item = Result<Sse, SseError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        loop {
            // The library skips an event without data at once, so its task would never give up its turn to another one.
            ready!(pin!(consume_budget()).poll(context));
            if let Some(mut event) = stream.events.pop_front() {
                match event.data.take().map(&mut stream.check).transpose() {
                    Ok(data) => event.data = data.flatten(),
                    Err(error) => return stream.fail(error),
                }
                return Poll::Ready(Some(Ok(event)));
            }
            if stream.has_ended {
                return Poll::Ready(None);
            }
            match stream.body.as_mut().poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => stream.has_ended = true,
                Poll::Ready(Some(Err(error))) => return stream.fail(error),
                Poll::Ready(Some(Ok(part))) => {
                    if stream.parser.read(&part, &mut stream.events).is_err() {
                        stream.traffic.close(CloseReason::MessageTooLong { max: stream.parser.bytes_max });
                        return stream.fail(ExchangeError::new("an event is longer than the limit of a message"));
                    }
                }
            }
        }
    }
}

impl EventParser {
    fn new(bytes_max: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            event: Sse::default(),
            after_return: false,
            bytes_max,
        }
    }

    /// Reads a part of the body, and appends the events that end in it.
    fn read(&mut self, part: &[u8], events: &mut VecDeque<Sse>) -> Result<(), EventTooLong> {
        for byte in part {
            let follows_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(*byte),
            }
            if self.line.len() + self.data.len() > self.bytes_max {
                return Err(EventTooLong);
            }
        }
        Ok(())
    }

    /// Ends a line. Returns the event that ends with it.
    fn end_line(&mut self) -> Option<Sse> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match &line[..colon] {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.event.event = Some(text()),
            b"id" => self.event.id = Some(text()),
            b"retry" => {
                let (min, max) = RETRY_MILLISECONDS;
                self.event.retry = text().parse().ok().map(|wait: u64| wait.clamp(min, max));
            }
            // A comment, or a field of a later version.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Sse> {
        let mut event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            event.data = Some(String::from_utf8_lossy(&data).into_owned());
        }
        (event != Sse::default()).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::future::poll_fn;

    fn events(parts: &[&str], bytes_max: usize) -> Option<Vec<Sse>> {
        let (mut parser, mut events) = (EventParser::new(bytes_max), VecDeque::new());
        parts.iter().try_for_each(|part| parser.read(part.as_bytes(), &mut events)).ok()?;
        Some(events.into())
    }

    #[test]
    fn every_line_ending_and_every_split_gives_the_same_events() {
        let expected = [
            Sse { data: Some("one\ntwo".to_owned()), id: Some("7".to_owned()), ..Sse::default() },
            Sse { event: Some("ping".to_owned()), retry: Some(1000), ..Sse::default() },
        ];
        for end in ["\n", "\r", "\r\n"] {
            let text =
                format!(": hi{end}{end}id: 7{end}data: one{end}data:two{end}{end}event: ping{end}retry: 0{end}{end}");
            assert_eq!(events(&[&text], 100).unwrap(), expected);
            let parts: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(events(&parts.iter().map(String::as_str).collect::<Vec<_>>(), 100).unwrap(), expected);
        }
    }

    #[test]
    fn a_long_line_and_many_lines_are_too_long() {
        assert!(events(&[&"x".repeat(101)], 100).is_none());
        assert!(events(&[&"data: 0123456789\n".repeat(11)], 100).is_none());
        assert_eq!(events(&[&"data: 0123456789\n\n".repeat(11)], 100).unwrap().len(), 11);
    }

    /// A body with one part.
    struct EventBody(Option<Bytes>);

    impl Stream for EventBody {
        type Item = Result<Bytes, ExchangeError>;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Ready(self.0.take().map(Ok))
        }
    }

    /// A body that always has more to read, until other tasks have had no turn for too long.
    struct EndlessBody {
        parts_left: usize,
    }

    impl Stream for EndlessBody {
        type Item = Result<Bytes, ExchangeError>;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            self.parts_left -= 1;
            Poll::Ready((self.parts_left > 0).then(|| Ok(Bytes::from_static(b"data: unused\n\n"))))
        }
    }

    #[tokio::test]
    async fn a_flood_of_unused_events_leaves_other_tasks_their_turn() {
        let body = Box::pin(EndlessBody { parts_left: 100_000 });
        let mut stream = EventStream::new(body, 100, Box::new(|_| Ok(None)), Arc::new(Traffic::new()));
        let flood = async { while poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await.is_some() {} };
        tokio::select! {
            biased;
            () = flood => panic!("no other task had a turn"),
            () = tokio::task::yield_now() => {}
        }
    }

    #[tokio::test]
    async fn no_event_follows_an_error() {
        // The first part fails the check, and the second one has an event that is too long after a whole one.
        for part in ["data: bad\n\ndata: next\n\n".to_owned(), format!("data: next\n\ndata: {}", "x".repeat(100))] {
            let body = Box::pin(EventBody(Some(part.into())));
            let check = |data: String| if data == "bad" { Err(ExchangeError::new("bad")) } else { Ok(Some(data)) };
            let mut stream = EventStream::new(body, 100, Box::new(check), Arc::new(Traffic::new()));
            let mut next = async || poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await;
            assert!(matches!(next().await, Some(Err(_))));
            assert!(next().await.is_none());
        }
    }
}
