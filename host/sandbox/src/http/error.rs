//! Why a request has no response or an incomplete one: a code for the guest, and a message for the model and the audit
//! log.
//!
//! The messages are our own. They quote little of what a guest or a server sent, truncated, and never a secret.

use super::secret_error::SecretError;
use crate::host_memory::HostMemoryFull;
use portcullis_policy::{DestinationError, HttpRefusal};
use std::net::IpAddr;
use wasmtime_wasi_http::Error;

/// Why the host did not send a request.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestRefusal {
    #[error("no HTTP client is granted to this call")]
    NoClient,
    #[error("the host cannot send a request to this destination: {0}")]
    Destination(#[from] DestinationError),
    #[error("only a program can open a tunnel, by the proxy that the policy gives it")]
    Tunnel,
    #[error("the request's destination is ambiguous")]
    Ambiguous,
    #[error("{0}")]
    Policy(#[from] HttpRefusal),
    #[error("this call may only send requests to {0}")]
    Narrowed(String),
    #[error("a plugin cannot set the header {0}")]
    Header(String),
    #[error("the policy does not let this plugin set the header {0}: it must be listed in `headers`")]
    UnlistedHeader(String),
    #[error("the plugin must not set the header {0}, because the host sends a secret in it")]
    SecretHeader(String),
    #[error("the plugin must not set the parameter {0}, because the host sends a secret in it")]
    SecretParameter(String),
    #[error("the request's headers are longer than {0} bytes")]
    LongHeaders(usize),
    #[error("the header content-length is not a single number")]
    ContentLength,
    #[error("the call has reached its limit of {0} requests with this client")]
    Requests(u32),
    #[error("the plugin has reached its limit of {0} requests a minute with this client; wait before the next one")]
    Pace(u32),
    #[error("a call can have at most {0} open responses; read or drop one before the next request")]
    Connections(usize),
    #[error("requests to {host} need a secret, which the host does not have: {error}")]
    Secret { host: String, error: SecretError },
    #[error("the host sends this secret only over https; use an https URL")]
    SecretInTheClear,
    #[error("{host} has the address {address}, which the policy does not allow")]
    Address { host: String, address: IpAddr },
    #[error("the policy allows no address that {0} can have")]
    NoAddress(String),
    #[error(transparent)]
    HostMemory(#[from] HostMemoryFull),
    #[error("plugins cannot reach the host's own servers")]
    OwnServer,
}

/// Why a narrowed client cannot connect, even with an approval.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Unreachable(#[from] RequestRefusal);

/// Why there is no response, or an incomplete one.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpFailure {
    #[error("{0}")]
    Refused(#[from] RequestRefusal),
    #[error("the name servers did not answer in time")]
    NameTimeout,
    #[error("the name does not exist or has no address")]
    NoAddress,
    #[error("the DNS lookup failed: {0}")]
    Names(String),
    #[error("the connection timed out")]
    ConnectTimeout,
    #[error("the connection failed: {0}")]
    Connect(std::io::ErrorKind),
    #[error("the server's certificate is not trusted: {0}")]
    Certificate(String),
    #[error("the server ended the TLS handshake with alert {number}")]
    Alert { number: u8 },
    #[error("the TLS connection failed: {0}")]
    Tls(String),
    #[error("the response took longer than allowed")]
    Timeout,
    #[error("the request's body is longer than {0} bytes")]
    RequestBody(u64),
    #[error("the response's body is longer than {0} bytes")]
    ResponseBody(u64),
    #[error("the response has too many headers, or its headers are too long")]
    ResponseHeaders,
    #[error("the response has a content coding that the host did not ask for: {}", .0.unwrap_or("an unknown one"))]
    Coding(Option<&'static str>),
    #[error("the response is not valid gzip, although its headers say so")]
    Encoded,
    #[error("the connection ended before the response did")]
    Incomplete,
    #[error("the plugin did not finish the request's body")]
    Aborted,
    #[error("the server sent invalid HTTP")]
    Protocol,
}

impl HttpFailure {
    /// Returns the error code for the guest.
    pub(super) fn code(&self) -> Error {
        match self {
            // A refused address has a code of its own. All other refusals share one.
            Self::Refused(RequestRefusal::Address { .. }) => Error::DestinationIpProhibited,
            Self::Refused(_) => Error::HttpRequestDenied,
            Self::NameTimeout => Error::DnsTimeout,
            Self::NoAddress => Error::DnsError { rcode: Some("NXDOMAIN".to_owned()), info_code: None },
            Self::Names(_) => Error::DnsError { rcode: Some("SERVFAIL".to_owned()), info_code: None },
            Self::ConnectTimeout => Error::ConnectionTimeout,
            Self::Connect(std::io::ErrorKind::ConnectionRefused) => Error::ConnectionRefused,
            Self::Connect(_) => Error::DestinationUnavailable,
            Self::Certificate(_) => Error::TlsCertificateError,
            Self::Alert { number } => Error::TlsAlertReceived { alert_id: Some(*number), alert_message: None },
            Self::Tls(_) => Error::TlsProtocolError,
            Self::Timeout => Error::HttpResponseTimeout,
            Self::RequestBody(limit) => Error::HttpRequestBodySize(Some(*limit)),
            Self::ResponseBody(limit) => Error::HttpResponseBodySize(Some(*limit)),
            Self::ResponseHeaders => Error::HttpResponseHeaderSectionSize(None),
            Self::Coding(coding) => Error::HttpResponseContentCoding(coding.map(str::to_owned)),
            Self::Encoded => Error::HttpResponseContentCoding(Some("gzip".to_owned())),
            Self::Incomplete => Error::HttpResponseIncomplete,
            Self::Aborted | Self::Protocol => Error::HttpProtocolError,
        }
    }
}

/// Maximum length of an untrusted part of a message, in characters.
const TEXT_CHARACTERS_MAX: usize = 256;

/// Truncates untrusted text and replaces its control characters, so that a message can contain it.
pub(super) fn bounded(text: &str) -> String {
    let shown = |character: char| if character.is_control() { '\u{fffd}' } else { character };
    text.chars().take(TEXT_CHARACTERS_MAX).map(shown).collect()
}
