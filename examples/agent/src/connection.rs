//! One POST over a connection of its own: no redirect is followed, no proxy is looked for, and what comes back is
//! bounded.

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

/// How long it may take until the connection stands.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// The largest answer, in bytes: more than a model writes at once.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// The most that is read ahead of an answer, and so the most that its head may be, in bytes.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

type Opaque = Box<dyn std::error::Error + Send + Sync>;

/// Why an address is none that this program talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetError {
    /// It is no address.
    #[error("OPENAI_BASE_URL is no address such as http://127.0.0.1:11434/v1")]
    NoAddress,
    /// A key would travel where anybody can read it.
    #[error("OPENAI_API_KEY would travel in the clear: use https, or a server on this machine")]
    KeyInTheClear,
    /// The key cannot be sent.
    #[error("OPENAI_API_KEY holds characters that no key has")]
    NoKey,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    /// Nobody is there.
    #[error("it cannot be reached: {0}")]
    Unreachable(io::Error),
    /// It does not show that it is the one that was meant.
    #[error("it is not who was meant: {0}")]
    Tls(Opaque),
    /// It breaks the protocol, or goes away.
    #[error("the exchange failed: {0}")]
    Protocol(Opaque),
    /// It answers without end.
    #[error("its answer is larger than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
}

/// Where requests go.
pub(crate) struct Target {
    tls: bool,
    host: String,
    port: u16,
    authority: String,
    path: String,
}

/// What the server knows this program by. Nothing prints it.
pub(crate) struct Key {
    key: String,
    header: HeaderValue,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// After how many seconds the server would be asked again.
    pub(crate) retry_after: Option<u64>,
    pub(crate) body: Vec<u8>,
}

impl Target {
    /// The address `base` with `rest` behind it.
    ///
    /// # Errors
    /// It is no http or https address, or holds a name, a password or a query.
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

    /// Whether nobody else reads what is sent: it is encrypted, or stays on this machine.
    pub(crate) fn is_private(&self) -> bool {
        let local = || self.host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        self.tls || self.host == "localhost" || local()
    }

    /// Sends JSON, and takes what comes back.
    ///
    /// # Errors
    /// Nothing comes back, or too much.
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
    /// A key, with the header that it travels in.
    ///
    /// # Errors
    /// It holds what no header can.
    pub(crate) fn of(key: &str) -> Result<Self, TargetError> {
        let mut header = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| TargetError::NoKey)?;
        header.set_sensitive(true);
        Ok(Self { key: key.to_owned(), header })
    }

    /// A text without it.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        text.replace(&self.key, "[the key]")
    }
}

/// Trusts the certificate authorities that are compiled in.
fn trust() -> Result<ClientConfig, rustls::Error> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// One request and its answer. The connection ends with it, also when nobody waits any more.
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
        // The server has closed it; what it said before may not have been read yet.
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
