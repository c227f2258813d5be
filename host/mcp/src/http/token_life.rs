//! The lifetime of a request's token. The streams that it opened end with it.

use super::carried::end_when;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use std::future::pending;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Maximum interval between reads of the clock, because the clock may be set and the machine may sleep.
const CLOCK_READ_INTERVAL: Duration = Duration::from_secs(30);

/// The end of a token's validity.
#[derive(Clone, Debug, Default)]
pub struct TokenLife {
    /// When the token expires, as a time since the Unix epoch.
    pub until: Option<Duration>,
    /// Cancelled when the operator removes the token.
    pub withdrawn: CancellationToken,
}

impl TokenLife {
    /// Ends a stream of events when the token becomes invalid. Other responses are complete when they begin.
    pub(crate) fn end(self, response: Response) -> Response {
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !content_type.is_some_and(|value| value.starts_with("text/event-stream")) {
            return response;
        }
        end_when(response, self.over())
    }

    /// Waits until the token is no longer valid.
    pub async fn over(self) {
        tokio::select! {
            () = self.withdrawn.cancelled() => {}
            () = expired(self.until) => {}
        }
    }
}

async fn expired(until: Option<Duration>) {
    let Some(end) = until else { return pending().await };
    while let Some(left) = time_left(end) {
        sleep(left.min(CLOCK_READ_INTERVAL)).await;
    }
}

/// Returns the time until `end`, or `None` if it has passed or the clock cannot be read.
fn time_left(end: Duration) -> Option<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    end.checked_sub(now).filter(|left| !left.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::{Body, Bytes};
    use http::HeaderValue;
    use http_body::Frame;
    use http_body_util::BodyExt as _;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// Returns a stream of events that never sends one.
    fn quiet_stream() -> Response {
        struct Quiet;
        impl http_body::Body for Quiet {
            type Data = Bytes;
            type Error = axum::Error;

            fn poll_frame(
                self: Pin<&mut Self>,
                _context: &mut Context<'_>,
            ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
                Poll::Pending
            }
        }
        let mut response = Response::new(Body::new(Quiet));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response
    }

    #[tokio::test]
    async fn a_stream_ends_when_its_token_is_withdrawn() {
        let withdrawn = CancellationToken::new();
        let stream = TokenLife { until: None, withdrawn: withdrawn.clone() }.end(quiet_stream()).into_body().collect();
        let ending = tokio::spawn(stream);
        withdrawn.cancel();
        assert!(ending.await.unwrap().unwrap().to_bytes().is_empty());
    }

    #[tokio::test]
    async fn a_stream_ends_when_its_token_expires() {
        let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_millis(20);
        for end in [Duration::ZERO, soon] {
            let stream =
                TokenLife { until: Some(end), ..TokenLife::default() }.end(quiet_stream()).into_body().collect();
            assert!(stream.await.unwrap().to_bytes().is_empty());
        }
    }
}
