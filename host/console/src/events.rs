//! Server-sent events: what changed, for one page. An event has numbers only. The page loads what it shows again.

use crate::console::ConsoleState;
use crate::limits::HEARTBEAT_TIME;
use crate::refusal::refusal;
use crate::session::ConsoleSession;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use futures_core::Stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde_json::json;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Events that wait for a slow page. Each one says everything, so more than this are not needed.
const EVENTS_WAITING_MAX: usize = 2;

/// How soon a page reconnects, in milliseconds.
const RETRY_MILLISECONDS: u64 = 1000;

/// Streams what changes until the page is closed, its session ends, or the console stops.
pub(crate) async fn stream(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
) -> Response {
    let Ok(permit) = Arc::clone(&state.streams).try_acquire_owned() else {
        let why = "Too many pages of this console are open. Close one.";
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "Too many pages", why);
    };
    let (sender, receiver) = mpsc::channel(EVENTS_WAITING_MAX);
    // The task owns the sender. When it ends, the response ends too.
    tokio::spawn(async move {
        tokio::select! {
            () = session.ended.cancelled() => {}
            // A page that was closed needs no more events.
            _ = send_all(&state, &sender) => {}
        }
        drop(permit);
    });
    let mut response = Response::new(Body::from_stream(EventBody(receiver)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

async fn send_all(state: &ConsoleState, page: &mpsc::Sender<Bytes>) -> Result<(), mpsc::error::SendError<Bytes>> {
    let mut changes = state.watch.subscribe();
    page.send(format!("retry: {RETRY_MILLISECONDS}\n\n").into()).await?;
    loop {
        // Mark the state as seen before sending it, so that a change during the send causes another event.
        let seen = *changes.borrow_and_update();
        let event = json!({
            "process": state.process, "ledger": seen.ledger, "pending": seen.pending,
            "remembered": seen.remembered, "log": seen.log, "live": seen.live, "paused": seen.paused,
        });
        page.send(format!("event: seen\ndata: {event}\n\n").into()).await?;
        loop {
            let waited = tokio::select! {
                () = state.stopping.cancelled() => return Ok(()),
                () = page.closed() => return Ok(()),
                waited = timeout(HEARTBEAT_TIME, changes.changed()) => waited,
            };
            match waited {
                Ok(Ok(())) => break,
                Ok(Err(_)) => return Ok(()),
                Err(_) => page.send(": alive\n\n".into()).await?,
            }
        }
    }
}

/// The body of an event stream.
struct EventBody(mpsc::Receiver<Bytes>);

impl Stream for EventBody {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(Ok))
    }
}
