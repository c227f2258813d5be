//! Sends one POST request over a new connection. Follows no redirects, uses no proxies, and limits the response.

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Maximum time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Maximum size of an answer in bytes: more than a model writes at once.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Maximum size of the read buffer in bytes, and so of the head of an answer.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

type Opaque = Box<dyn std::error::Error + Send + Sync>;

/// Why this program does not talk to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetError {
    /// It is not a valid address.
    #[error("OPENAI_BASE_URL is not an address such as http://127.0.0.1:11434/v1")]
    NoAddress,
    /// The key would be sent without encryption.
    #[error("OPENAI_API_KEY would be sent unencrypted: use https, or a server on this machine")]
    KeyInTheClear,
    /// The key cannot be sent.
    #[error("OPENAI_API_KEY contains characters that are not allowed in a key")]
    NoKey,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    /// The server cannot be reached.
    #[error("it cannot be reached: {0}")]
    Unreachable(io::Error),
    /// The TLS handshake failed.
    #[error("its identity cannot be verified: {0}")]
    Tls(Opaque),
    /// The server violates the protocol, or closes the connection.
    #[error("the exchange failed: {0}")]
    Protocol(Opaque),
    /// Its answer is too large.
    #[error("its answer is larger than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
}

/// The destination of requests.
pub(crate) struct Target {
    tls: bool,
    host: String,
    port: u16,
    authority: String,
    path: String,
}

/// The API key. Never printed.
pub(crate) struct Key {
    key: String,
    header: HeaderValue,
}

/// The answer of the server.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The seconds after which the server asks for a retry.
    pub(crate) retry_after: Option<u64>,
    pub(crate) body: Vec<u8>,
}

impl Target {
    /// Returns the target for the address `base`, with `rest` appended.
    ///
    /// # Errors
    /// It is not an http or https address, or contains a user, a password or a query.
    pub(crate) fn of(base: &str, rest: &str) -> Result<Self, TargetError> {
        let base: Uri = base.parse().map_err(|_| TargetError::NoAddress)?;
        let (tls, usual) = match base.scheme_str() {
            Some("https") => (true, 443),
            Some("http") => (false, 80),
            Some(_) | None => return Err(TargetError::NoAddress),
        };
        let authority = base.authority().ok_or(TargetError::NoAddress)?;
        if authority.as_str().contains('@') || base.query().is_some() || authority.host().is_empty() {
            return Err(TargetError::NoAddress);
        }
        Ok(Self {
            tls,
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(usual),
            authority: authority.to_string(),
            path: format!("{}/{rest}", base.path().trim_end_matches('/')),
        })
    }

    /// Returns whether requests are private: encrypted, or local to this machine.
    pub(crate) fn is_private(&self) -> bool {
        let local = || self.host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        self.tls || self.host == "localhost" || local()
    }

    /// Sends JSON, and returns the answer.
    ///
    /// # Errors
    /// There is no answer, or it is too large.
    pub(crate) async fn post(&self, key: Option<&Key>, json: &str) -> Result<Answer, ConnectionError> {
        let request = self.request(key, json)?;
        let late = |_| ConnectionError::Unreachable(io::ErrorKind::TimedOut.into());
        let stream = timeout(CONNECT_TIME, self.connect()).await.map_err(late)??;
        if !self.tls {
            return exchange(stream, request).await;
        }
        let name = ServerName::try_from(self.host.clone()).map_err(|error| ConnectionError::Tls(error.into()))?;
        let connector = TlsConnector::from(Arc::new(trust().map_err(|error| ConnectionError::Tls(error.into()))?));
        let handshake = timeout(CONNECT_TIME, connector.connect(name, stream)).await.map_err(late)?;
        exchange(handshake.map_err(|error| ConnectionError::Tls(error.into()))?, request).await
    }

    #[expect(clippy::disallowed_methods, reason = "the person named this server in the environment")]
    async fn connect(&self) -> Result<TcpStream, ConnectionError> {
        TcpStream::connect((self.host.as_str(), self.port)).await.map_err(ConnectionError::Unreachable)
    }

    fn request(&self, key: Option<&Key>, json: &str) -> Result<Request<Full<Bytes>>, ConnectionError> {
        let protocol = |error: hyper::http::Error| ConnectionError::Protocol(error.into());
        let request = Request::post(&self.path).header(HOST, &self.authority).header(ACCEPT, "application/json");
        let mut request = request
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::copy_from_slice(json.as_bytes())))
            .map_err(protocol)?;
        if let Some(key) = key {
            request.headers_mut().insert(AUTHORIZATION, key.header.clone());
        }
        Ok(request)
    }
}

impl Key {
    /// Prepares a key and its header.
    ///
    /// # Errors
    /// It contains characters that a header cannot hold.
    pub(crate) fn of(key: &str) -> Result<Self, TargetError> {
        let mut header = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| TargetError::NoKey)?;
        header.set_sensitive(true);
        Ok(Self { key: key.to_owned(), header })
    }

    /// Removes the key from a text.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        text.replace(&self.key, "[the key]")
    }
}

/// Returns a configuration that trusts the built-in certificate authorities.
fn trust() -> Result<ClientConfig, rustls::Error> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Sends one request and reads its answer. The connection ends with the future, even if it is dropped early.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, ConnectionError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let protocol = |error: hyper::Error| ConnectionError::Protocol(error.into());
    let handshake = http1::Builder::new().max_buf_size(BUFFER_BYTES_MAX).handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(protocol)?;
    let talk = async {
        let response = sender.send_request(request).await.map_err(protocol)?;
        let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await.map_err(unfinished)?;
        Ok(Answer { status, retry_after: seconds, body: body.to_bytes().into() })
    };
    tokio::pin!(talk, connection);
    tokio::select! {
        biased;
        answer = &mut talk => answer,
        // The server has closed the connection, but its answer may not have been read yet.
        _ = &mut connection => talk.await,
    }
}

fn unfinished(error: Opaque) -> ConnectionError {
    match error.is::<http_body_util::LengthLimitError>() {
        true => ConnectionError::TooLarge,
        false => ConnectionError::Protocol(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(base: &str) -> Option<(String, u16, String, bool)> {
        let target = Target::of(base, "chat/completions").ok()?;
        let private = target.is_private();
        Some((target.host, target.port, target.path, private))
    }

    #[test]
    fn an_address_says_where_requests_go() {
        let row = |host: &str, port, path: &str, private| Some((host.to_owned(), port, path.to_owned(), private));
        assert_eq!(of("https://model.test/v1"), row("model.test", 443, "/v1/chat/completions", true));
        assert_eq!(of("http://127.0.0.1:11434/v1/"), row("127.0.0.1", 11434, "/v1/chat/completions", true));
        assert_eq!(of("http://[::1]:8080"), row("::1", 8080, "/chat/completions", true));
        assert_eq!(of("http://model.test"), row("model.test", 80, "/chat/completions", false));
        for base in
            ["", "model.test/v1", "/v1", "ftp://model.test", "https://user:password@model.test/v1", "https://a/?b"]
        {
            assert_eq!(of(base), None, "{base}");
        }
    }
}
