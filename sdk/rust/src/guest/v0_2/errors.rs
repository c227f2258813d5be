//! Translates the host's refusals and network errors into failures with texts for a model.

use super::bindings::portcullis::tool::dependencies::Unavailable;
use super::bindings::wasi::http::types::{ErrorCode, HeaderError};
use crate::Failure;

/// Returns the failure for a key without a handle.
pub(super) fn no_handle(kind: &str, key: &str, why: Unavailable) -> Failure {
    match why {
        Unavailable::UnknownKey => Failure::failed(format!("the manifest does not ask for `{key}`")),
        Unavailable::WrongKind => Failure::failed(format!("`{key}` is not a key of kind {kind}")),
        Unavailable::NotGranted => Failure::denied(format!("the policy grants no {kind} `{key}` to this tool")),
        Unavailable::Failed => Failure::unavailable(format!("the {kind} `{key}` could not be opened")),
    }
}

/// Returns the failure for a header that cannot be sent.
pub(super) fn header(name: &str, error: HeaderError) -> Failure {
    let name = name.escape_debug();
    match error {
        HeaderError::InvalidSyntax => {
            Failure::invalid(format!("the header `{name}` has characters that are not allowed in headers"))
        }
        HeaderError::Forbidden => Failure::denied(format!("the header `{name}` is set by the host; leave it out")),
        HeaderError::Immutable => Failure::failed(format!("the header `{name}` can no longer be set")),
    }
}

/// Returns the failure for an exchange with a server. `refusal` is the host's reason for its last refusal.
pub(super) fn exchange(server: &str, code: &ErrorCode, refusal: Option<String>) -> Failure {
    let denied = |words: &str| Failure::denied(format!("the request to {server} is refused: {words}"));
    let unavailable = |words: &str| Failure::unavailable(format!("{server}: {words}"));
    let failed = |words: &str| Failure::failed(format!("{server}: {words}"));
    match code {
        ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => {
            refusal.map_or_else(|| denied("the policy does not cover it"), Failure::Denied)
        }
        ErrorCode::HttpRequestMethodInvalid => denied("its method is not allowed"),
        ErrorCode::HttpRequestUriInvalid => denied("its URL is not allowed"),
        ErrorCode::HttpRequestBodySize(max) => denied(&format!("its body is larger than {}", bytes(*max))),
        ErrorCode::HttpRequestUriTooLong
        | ErrorCode::HttpRequestHeaderSectionSize(_)
        | ErrorCode::HttpRequestHeaderSize(_)
        | ErrorCode::HttpRequestTrailerSectionSize(_)
        | ErrorCode::HttpRequestTrailerSize(_)
        | ErrorCode::HttpRequestLengthRequired => failed("the request cannot be sent: its head is too large or wrong"),
        ErrorCode::DnsTimeout => unavailable("looking up the name took too long"),
        ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => unavailable("the name has no address"),
        ErrorCode::DestinationUnavailable | ErrorCode::DestinationIpUnroutable => unavailable("it cannot be reached"),
        ErrorCode::ConnectionRefused => unavailable("it refused the connection"),
        ErrorCode::ConnectionTerminated => unavailable("the connection broke"),
        ErrorCode::ConnectionTimeout => unavailable("connecting took too long"),
        ErrorCode::ConnectionReadTimeout | ErrorCode::HttpResponseTimeout => unavailable("it took too long to answer"),
        ErrorCode::ConnectionWriteTimeout => unavailable("it took too long to accept the request"),
        ErrorCode::ConnectionLimitReached => unavailable("there are too many connections already"),
        ErrorCode::TlsProtocolError | ErrorCode::TlsAlertReceived(_) => unavailable("the TLS connection failed"),
        ErrorCode::TlsCertificateError => failed("its certificate is not trusted"),
        ErrorCode::HttpResponseIncomplete => unavailable("its response ended before it was complete"),
        ErrorCode::HttpResponseBodySize(max) => failed(&format!("its response is larger than {}", bytes(*max))),
        ErrorCode::HttpResponseHeaderSectionSize(_)
        | ErrorCode::HttpResponseHeaderSize(_)
        | ErrorCode::HttpResponseTrailerSectionSize(_)
        | ErrorCode::HttpResponseTrailerSize(_) => failed("the head of its response is too large"),
        ErrorCode::HttpResponseTransferCoding(_) | ErrorCode::HttpResponseContentCoding(_) => {
            failed("its response is encoded in a way that cannot be read")
        }
        ErrorCode::HttpUpgradeFailed | ErrorCode::HttpProtocolError => failed("it violated the HTTP protocol"),
        ErrorCode::LoopDetected => failed("the request was forwarded in a loop"),
        ErrorCode::ConfigurationError => failed("the client is misconfigured"),
        ErrorCode::InternalError(words) => unavailable(words.as_deref().unwrap_or("the request failed")),
    }
}

fn bytes(max: Option<u64>) -> String {
    max.map_or_else(|| "the policy allows".to_owned(), |max| format!("the {max} bytes that the policy allows"))
}
