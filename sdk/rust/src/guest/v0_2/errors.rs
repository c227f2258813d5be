//! What a host's refusals and the errors of the network are for a model: the kind that fits, and plain words.

use super::bindings::portcullis::tool::dependencies::Unavailable;
use super::bindings::wasi::http::types::{ErrorCode, HeaderError};
use crate::Failure;

/// Why a key gives no handle.
pub(super) fn no_handle(kind: &str, key: &str, why: Unavailable) -> Failure {
    match why {
        Unavailable::UnknownKey => Failure::failed(format!("the manifest does not ask for `{key}`")),
        Unavailable::WrongKind => Failure::failed(format!("`{key}` is no {kind}")),
        Unavailable::NotGranted => Failure::denied(format!("the policy grants no {kind} `{key}` to this tool")),
        Unavailable::Failed => Failure::unavailable(format!("the {kind} `{key}` could not be opened")),
    }
}

/// Why a header cannot be sent.
pub(super) fn header(name: &str, error: HeaderError) -> Failure {
    let name = name.escape_debug();
    match error {
        HeaderError::InvalidSyntax => {
            Failure::invalid(format!("the header `{name}` has characters that no header has"))
        }
        HeaderError::Forbidden => Failure::denied(format!("the header `{name}` is the host's; leave it out")),
        HeaderError::Immutable => Failure::failed(format!("the header `{name}` cannot be set any more")),
    }
}

/// Why an exchange with a server failed. `refusal` is what the host says of the last request that it refused.
pub(super) fn exchange(server: &str, code: &ErrorCode, refusal: Option<String>) -> Failure {
    let denied = |words: &str| Failure::denied(format!("the request to {server} is refused: {words}"));
    let unavailable = |words: &str| Failure::unavailable(format!("{server}: {words}"));
    let failed = |words: &str| Failure::failed(format!("{server}: {words}"));
    match code {
        ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => {
            refusal.map_or_else(|| denied("the policy does not cover it"), Failure::Denied)
        }
        ErrorCode::HttpRequestMethodInvalid => denied("its method is not one that may be sent"),
        ErrorCode::HttpRequestUriInvalid => denied("its URL is not one that may be sent"),
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
        ErrorCode::ConnectionWriteTimeout => unavailable("it took too long to take the request"),
        ErrorCode::ConnectionLimitReached => unavailable("there are too many connections already"),
        ErrorCode::TlsProtocolError | ErrorCode::TlsAlertReceived(_) => unavailable("no secure connection came about"),
        ErrorCode::TlsCertificateError => failed("its certificate is not one to trust"),
        ErrorCode::HttpResponseIncomplete => unavailable("its response ended before it was complete"),
        ErrorCode::HttpResponseBodySize(max) => failed(&format!("its response is larger than {}", bytes(*max))),
        ErrorCode::HttpResponseHeaderSectionSize(_)
        | ErrorCode::HttpResponseHeaderSize(_)
        | ErrorCode::HttpResponseTrailerSectionSize(_)
        | ErrorCode::HttpResponseTrailerSize(_) => failed("the head of its response is too large"),
        ErrorCode::HttpResponseTransferCoding(_) | ErrorCode::HttpResponseContentCoding(_) => {
            failed("its response is encoded in a way that cannot be read")
        }
        ErrorCode::HttpUpgradeFailed | ErrorCode::HttpProtocolError => failed("it does not speak HTTP as it should"),
        ErrorCode::LoopDetected => failed("the request runs in a circle"),
        ErrorCode::ConfigurationError => failed("the client is set up wrongly"),
        ErrorCode::InternalError(words) => unavailable(words.as_deref().unwrap_or("the request failed")),
    }
}

fn bytes(max: Option<u64>) -> String {
    max.map_or_else(|| "the policy allows".to_owned(), |max| format!("the {max} bytes that the policy allows"))
}
