//! Opens connections for guests. This is the only place that does, and it connects only to checked addresses, never to
//! names.

use super::error::HttpFailure;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

/// Maximum addresses of a name to try.
const ATTEMPTS_MAX: usize = 4;
/// Timeout of one attempt, if there is another address to try.
const ATTEMPT_TIME: Duration = Duration::from_secs(5);

/// Connects to the first of these addresses that answers before the deadline.
pub(super) async fn connect(addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, HttpFailure> {
    let mut failure = HttpFailure::NoAddress;
    for (index, address) in addresses.iter().take(ATTEMPTS_MAX).enumerate() {
        let last = index + 1 == addresses.len().min(ATTEMPTS_MAX);
        let attempt = if last { deadline } else { deadline.min(Instant::now() + ATTEMPT_TIME) };
        match timeout_at(attempt, open(*address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = HttpFailure::Connect(error.kind()),
            Err(_) => failure = HttpFailure::ConnectTimeout,
        }
    }
    Err(failure)
}

#[expect(clippy::disallowed_methods, reason = "the address was checked against the client's grant")]
async fn open(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
