//! Why a request has no response, or no whole one: for the guest as a code, for the model and the record as a text.
//!
//! The texts are ours. Of what a guest or a server said they repeat little, bounded, and never a secret.

use super::secret_error::SecretError;
use crate::host_memory::HostMemoryFull;
use portcullis_policy::{DestinationError, HttpRefusal};
use std::net::IpAddr;
use wasmtime_wasi_http::Error;

/// Why the host did not send a request.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("no HTTP client is granted to this call")]
    NoClient,
    #[error("the request names no destination that the host sends to: {0}")]
    Destination(#[from] DestinationError),
    #[error("the request's destination can be read in two ways")]
    Ambiguous,
    #[error("{0}")]
    Policy(#[from] HttpRefusal),
    #[error("this call may send requests to {0} alone")]
    Narrowed(String),
    #[error("the host does not send the header {0} for a plugin")]
    Header(String),
    #[error("the policy does not let this plugin set the header {0}: it must be listed in `headers`")]
    UnlistedHeader(String),
    #[error("the host itself sets the header {0}, in which it sends a secret")]
    SecretHeader(String),
    #[error("the host itself sets the parameter {0}, in which it sends a secret")]
    SecretParameter(String),
    #[error("the request's headers are longer than {0} bytes")]
    LongHeaders(usize),
    #[error("the header content-length is not one plain number")]
    ContentLength,
    #[error("a call may send {0} requests with this client, and this one did")]
    Requests(u32),
    #[error("the plugin may send {0} requests a minute with this client; wait before the next one")]
    Pace(u32),
    #[error("a call may have {0} responses open at once; read or drop one before the next request")]
    Connections(usize),
    #[error("the host adds a secret to requests to {host} and has none: {error}")]
    Secret { host: String, error: SecretError },
    #[error("the host sends its secret through https alone")]
    SecretInTheClear,
    #[error("{host} is at the address {address}, which the policy does not grant")]
    Address { host: String, address: IpAddr },
    #[error("the policy grants no address that {0} can have")]
    NoAddress(String),
    #[error(transparent)]
    HostMemory(#[from] HostMemoryFull),
    #[error("the host's own servers are not reached by plugins")]
    OwnServer,
}

/// Why a narrowed client cannot connect, even with an approval.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Unreachable(#[from] Refusal);

/// Why there is no response, or no whole one.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Refused(#[from] Refusal),
    #[error("the name servers did not answer in time")]
    NameTimeout,
    #[error("the name does not exist or has no address")]
    NoAddress,
    #[error("the name servers could not be asked: {0}")]
    Names(String),
    #[error("no connection in time")]
    ConnectTimeout,
    #[error("no connection: {0}")]
    Connect(std::io::ErrorKind),
    #[error("the server's certificate is not one to trust: {0}")]
    Certificate(String),
    #[error("the server ended the TLS handshake with alert {number}")]
    Alert { number: u8 },
    #[error("no TLS connection with this server: {0}")]
    Tls(String),
    #[error("the response took longer than allowed")]
    Timeout,
    #[error("the request's body is longer than {0} bytes")]
    RequestBody(u64),
    #[error("the response's body is longer than {0} bytes")]
    ResponseBody(u64),
    #[error("the response's headers are more or longer than the host takes")]
    ResponseHeaders,
    #[error("the response has a content coding that the host did not ask for: {}", .0.unwrap_or("an unknown one"))]
    Coding(Option<&'static str>),
    #[error("the response is not the gzip that it says it is")]
    Encoded,
    #[error("the connection ended before the response did")]
    Incomplete,
    #[error("the plugin did not finish the request's body")]
    Aborted,
    #[error("the server does not speak HTTP as it should")]
    Protocol,
}

impl Failure {
    /// What the guest is told. Contract text is only in the codes, so that a guest's library understands them.
    pub(super) fn code(&self) -> Error {
        match self {
            // An address is a matter of the destination; everything else is a matter of what was granted.
            Self::Refused(Refusal::Address { .. }) => Error::DestinationIpProhibited,
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

    /// What hyper stopped at, in our words.
    pub(super) fn from_hyper(error: &hyper::Error) -> Self {
        if error.is_parse_too_large() {
            Self::ResponseHeaders
        } else if error.is_timeout() {
            Self::Timeout
        } else if error.is_user() {
            Self::Aborted
        } else if error.is_incomplete_message() || error.is_closed() || error.is_canceled() || is_io(error) {
            Self::Incomplete
        } else {
            Self::Protocol
        }
    }

    /// What rustls stopped at, in our words.
    pub(super) fn from_tls(error: &std::io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(reason)) => Self::Certificate(bounded(&format!("{reason:?}"))),
            Some(rustls::Error::AlertReceived(alert)) => Self::Alert { number: u8::from(*alert) },
            Some(other) => Self::Tls(bounded(&other.to_string())),
            None => Self::Tls(error.kind().to_string()),
        }
    }
}

fn is_io(error: &hyper::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if inner.is::<std::io::Error>() {
            return true;
        }
        source = inner.source();
    }
    false
}

/// The longest part of a text that somebody else decided, in characters.
const TEXT_CHARACTERS_MAX: usize = 256;

/// Hostile text as a text of ours can carry it.
pub(super) fn bounded(text: &str) -> String {
    let shown = |character: char| if character.is_control() { '\u{fffd}' } else { character };
    text.chars().take(TEXT_CHARACTERS_MAX).map(shown).collect()
}
