//! How a server behaves.

use super::frames;
use super::wire::Wire;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

/// What a server makes of a request: from its bytes to the bytes of the answer.
pub type Answer = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// How a server behaves to each connection.
#[derive(Clone)]
pub enum Behaviour {
    /// Answers each request, and keeps the connection.
    Answer(Answer),
    /// Answers the first request with these bytes, whatever they are, and closes.
    Say(Vec<u8>),
    /// Says these bytes to the first bytes it hears, such as a hello of TLS, and closes.
    Blurt(Vec<u8>),
    /// Answers the first request with `first`, and then with `again` without end, `every` so often.
    Flood {
        /// Once.
        first: Vec<u8>,
        /// Again and again.
        again: Vec<u8>,
        /// The time between.
        every: Duration,
    },
    /// Answers the first request with `first`, then with all that is given; and closes.
    Stream {
        /// Once.
        first: Vec<u8>,
        /// How often.
        times: u64,
        /// What.
        piece: Vec<u8>,
    },
    /// Hears and never answers.
    Silent,
    /// Resets each connection.
    Reset,
    /// HTTP/2, as hyper speaks it; the answer is a whole one of HTTP/1.
    Http2(Answer),
    /// Frames of HTTP/2: once there is a request, `first`, and `again` without end.
    Frames {
        /// Once.
        first: Vec<u8>,
        /// Again and again.
        again: Vec<u8>,
    },
}

impl Behaviour {
    /// Answers `ok`.
    pub fn ok() -> Self {
        Self::answer(|_| Self::whole(200, &[], "ok"))
    }

    /// Answers each request.
    pub fn answer(answer: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::Answer(Arc::new(answer))
    }

    /// Answers each request over HTTP/2 with `ok`.
    pub fn http2_ok() -> Self {
        Self::Http2(Arc::new(|_| Self::whole(200, &[], "ok")))
    }

    /// Redirects everything there.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        let location = location.into();
        Self::answer(move |_| Self::whole(status, &[("location", &location)], "moved"))
    }

    /// A whole answer of HTTP/1.
    pub fn whole(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
        let body = body.as_ref();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("HTTP/1.1 {status} Some\r\n{headers}content-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    }

    /// What follows the first bytes as fast as it is taken.
    pub fn flood(first: impl Into<Vec<u8>>, again: impl Into<Vec<u8>>) -> Self {
        Self::drip(first, again, Duration::ZERO)
    }

    /// What follows the first bytes in pieces, so often.
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
                    // Whoever goes away meanwhile is noticed.
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
            // Both are dealt with where the connection is accepted.
            Self::Reset | Self::Http2(_) => Ok(()),
        }
    }
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("behaviour")
    }
}
