//! The behaviours of a test server.

use super::frames;
use super::wire::Wire;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

/// Converts the bytes of a request to the bytes of the response.
pub type Answer = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// The behaviour of a server on each connection.
#[derive(Clone)]
pub enum Behaviour {
    /// Responds to each request, and keeps the connection open.
    Answer(Answer),
    /// Responds to the first request with these bytes, valid or not, and closes.
    Say(Vec<u8>),
    /// Responds to the first bytes, such as a TLS hello, with these bytes, and closes.
    Blurt(Vec<u8>),
    /// Responds to the first request with `first`, and then sends `again` endlessly at an interval.
    Flood {
        /// Sent once.
        first: Vec<u8>,
        /// Sent repeatedly.
        again: Vec<u8>,
        /// The interval.
        every: Duration,
    },
    /// Responds to the first request with `first`, then sends a number of chunks, and closes.
    Stream {
        /// Sent once.
        first: Vec<u8>,
        /// The number of chunks.
        times: u64,
        /// The chunk.
        piece: Vec<u8>,
    },
    /// Reads and never responds.
    Silent,
    /// Resets each connection.
    Reset,
    /// Speaks HTTP/2, through hyper. The response is a complete HTTP/1 response.
    Http2(Answer),
    /// Sends HTTP/2 frames after the first request: `first`, and `again` endlessly.
    Frames {
        /// Sent once.
        first: Vec<u8>,
        /// Sent repeatedly.
        again: Vec<u8>,
    },
}

impl Behaviour {
    /// Responds with `ok`.
    pub fn ok() -> Self {
        Self::answer(|_| Self::whole(200, &[], "ok"))
    }

    /// Responds to each request.
    pub fn answer(answer: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::Answer(Arc::new(answer))
    }

    /// Responds to each request over HTTP/2 with `ok`.
    pub fn http2_ok() -> Self {
        Self::Http2(Arc::new(|_| Self::whole(200, &[], "ok")))
    }

    /// Redirects every request to this location.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        let location = location.into();
        Self::answer(move |_| Self::whole(status, &[("location", &location)], "moved"))
    }

    /// Builds a complete HTTP/1 response.
    pub fn whole(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
        let body = body.as_ref();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("HTTP/1.1 {status} Some\r\n{headers}content-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    }

    /// Sends the first bytes, and then more as fast as the client reads.
    pub fn flood(first: impl Into<Vec<u8>>, again: impl Into<Vec<u8>>) -> Self {
        Self::drip(first, again, Duration::ZERO)
    }

    /// Sends the first bytes, and then more pieces at an interval.
    pub fn drip(first: impl Into<Vec<u8>>, again: impl Into<Vec<u8>>, every: Duration) -> Self {
        Self::Flood { first: first.into(), again: again.into(), every }
    }

    pub(super) async fn talk<S: AsyncRead + AsyncWrite + Unpin>(&self, mut wire: Wire<S>) -> io::Result<()> {
        match self {
            Self::Answer(answer) => loop {
                let request = wire.request().await?;
                wire.say(&answer(&request)).await?;
            },
            Self::Say(bytes) => {
                wire.request().await?;
                wire.say(bytes).await
            }
            Self::Blurt(bytes) => {
                wire.hear().await?;
                wire.say(bytes).await
            }
            Self::Flood { first, again, every } => {
                wire.request().await?;
                wire.say(first).await?;
                loop {
                    // Notice if the client closes the connection meanwhile.
                    if let Ok(heard) = timeout(*every, wire.hear()).await {
                        heard?;
                    }
                    wire.say(again).await?;
                }
            }
            Self::Stream { first, times, piece } => {
                wire.request().await?;
                wire.say(first).await?;
                for _ in 0..*times {
                    wire.say(piece).await?;
                }
                Ok(())
            }
            Self::Silent => loop {
                wire.hear().await?;
            },
            Self::Frames { first, again } => frames::talk(wire, first, again).await,
            // Both are handled when the connection is accepted.
            Self::Reset | Self::Http2(_) => Ok(()),
        }
    }
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("behaviour")
    }
}
