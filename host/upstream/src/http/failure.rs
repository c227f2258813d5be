//! What an error of the transport says about HTTP.

use super::backend::ExchangeError;
use portcullis_definitions::text;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Maximum length of a header in an error, in bytes.
const HEADER_BYTES_MAX: usize = 4096;

/// A response of HTTP that is an error.
pub(crate) enum HttpFailure {
    /// The server demands an authorization.
    Unauthorized { challenge: String },
    /// Any other status.
    Status { status: u16, retry_after: Option<String> },
}

/// Returns the response of HTTP behind an error of the transport, if there is one.
pub(crate) fn failure(error: &DynamicTransportError) -> Option<HttpFailure> {
    let challenge =
        |header: &str| HttpFailure::Unauthorized { challenge: text::cut(header, HEADER_BYTES_MAX).to_owned() };
    match error.error.downcast_ref::<StreamableHttpError<ExchangeError>>()? {
        StreamableHttpError::AuthRequired(required) => Some(challenge(&required.www_authenticate_header)),
        StreamableHttpError::InsufficientScope(scope) => Some(challenge(&scope.www_authenticate_header)),
        StreamableHttpError::HttpStatus(status) => {
            Some(HttpFailure::Status { status: status.status, retry_after: status.retry_after.clone() })
        }
        _ => None,
    }
}
