//! The HTTP client of a bucket: one connection for each request, over the library that the host has already. It
//! connects to the store that the operator names, so it checks no address.

use http_body_util::{BodyExt, Limited};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper::http::uri::{Authority, Scheme};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use object_store::client::{
    ClientConfigKey, ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How long a connection may take to be made, with its encryption.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// How long an answer may take until its header is there, in which a part is sent.
const ANSWER_TIME: Duration = Duration::from_secs(15);

/// Maximum size of an answer, in bytes. The largest that are asked for are a part, and a list of 1000 names.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The ports of `https` and `http`.
const USUAL_PORTS: [u16; 2] = [443, 80];

/// Makes clients.
#[derive(Clone, Debug)]
pub(super) struct HyperConnector(pub(super) Arc<ClientConfig>);

/// Whether a client may talk to a server without encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plain {
    Refused,
    Allowed,
}

/// A client.
#[derive(Debug)]
struct HyperClient {
    tls: Arc<ClientConfig>,
    plain: Plain,
}

/// The future of an answer.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

/// Where a request goes.
struct Target {
    authority: Authority,
    port: u16,
    is_encrypted: bool,
}

impl HttpConnector for HyperConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allowed = options.get_config_value(&ClientConfigKey::AllowHttp);
        let plain = if allowed.as_deref() == Some("true") { Plain::Allowed } else { Plain::Refused };
        Ok(HttpClient::new(HyperClient { tls: Arc::clone(&self.0), plain }))
    }
}

impl HttpService for HyperClient {
    fn call<'s, 'a>(&'s self, request: HttpRequest) -> Answering<'a>
    where
        's: 'a,
        Self: 'a,
    {
        Box::pin(self.answer(request))
    }
}

impl HyperClient {
    async fn answer(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let target = Target::of(request.uri()).ok_or_else(|| refused("the address has no host"))?;
        if !target.is_encrypted && self.plain == Plain::Refused {
            return Err(refused("http is not encrypted: use https, or set AWS_ALLOW_HTTP=true"));
        }
        let connected = timeout(CONNECT_TIME, self.connect(&target)).await;
        let stream = connected.map_err(|error| HttpError::new(HttpErrorKind::Connect, error))?;
        let stream = stream.map_err(|error| HttpError::new(HttpErrorKind::Connect, error))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // The connection ends with its answer, because nothing else holds it.
        drop(tokio::spawn(connection));
        let sent = timeout(ANSWER_TIME, sender.send_request(target.request(request)?)).await;
        let answer = sent.map_err(|error| HttpError::new(HttpErrorKind::Timeout, error))?.map_err(failed)?;
        Ok(answer.map(|body| {
            let body = Limited::new(body, ANSWER_BYTES_MAX);
            HttpResponseBody::new(body.map_err(|error| HttpError::new_boxed(HttpErrorKind::Interrupted, error)))
        }))
    }

    #[expect(clippy::disallowed_methods, reason = "the operator names the store, not a guest")]
    async fn connect(&self, target: &Target) -> io::Result<Box<dyn Connection>> {
        let host = target.authority.host();
        // An IPv6 address has brackets in an authority, and none elsewhere.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let stream = TcpStream::connect((host.as_str(), target.port)).await?;
        stream.set_nodelay(true)?;
        if !target.is_encrypted {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        Ok(Box::new(TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await?))
    }
}

/// A connection, encrypted or not.
trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

impl Target {
    fn of(uri: &Uri) -> Option<Self> {
        let is_encrypted = uri.scheme() != Some(&Scheme::HTTP);
        let authority = uri.authority()?.clone();
        let port = authority.port_u16().unwrap_or(USUAL_PORTS[usize::from(!is_encrypted)]);
        Some(Self { authority, port, is_encrypted })
    }

    /// Returns the request as it is sent to the server itself: with the name of the host in the header, where the
    /// signature has it too.
    fn request(&self, mut request: HttpRequest) -> Result<Request<HttpRequestBody>, HttpError> {
        // A server itself gets only the path and the query (RFC 9112, section 3.2.1).
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = path.parse().map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let host = HeaderValue::from_str(self.authority.as_str());
        let host = host.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        request.headers_mut().entry(HOST).or_insert(host);
        Ok(request)
    }
}

/// Returns the port of an address.
pub(super) fn port(address: &str) -> Option<u16> {
    Target::of(&address.parse().ok()?).map(|target| target.port)
}

fn refused(why: &str) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, io::Error::other(why.to_owned()))
}

/// Converts an error of a request that was sent, or may have been. Each request can be repeated.
fn failed(error: hyper::Error) -> HttpError {
    let kind = if error.source().is_some() || error.is_incomplete_message() {
        HttpErrorKind::Interrupted
    } else {
        HttpErrorKind::Request
    };
    HttpError::new(kind, error)
}
