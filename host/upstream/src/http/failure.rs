//! What an error of the transport says about HTTP.

use super::backend::ExchangeError;
use portcullis_definitions::text;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::error::Error as _;

/// Maximum length of a header in an error, in bytes.
const HEADER_BYTES_MAX: usize = 4096;

/// Why a request over HTTP has no answer.
pub(crate) enum HttpFailure {
    /// The server demands an authorization.
    Unauthorized { challenge: String },
    /// Any other status.
    Status { status: u16, retry_after: Option<String> },
    /// There is no response, for this reason.
    NoResponse { problem: String },
}

/// Returns what an error of the transport says about HTTP, if it does.
pub(crate) fn failure(error: &DynamicTransportError) -> Option<HttpFailure> {
    let challenge =
        |header: &str| HttpFailure::Unauthorized { challenge: text::cut(header, HEADER_BYTES_MAX).to_owned() };
    match error.error.downcast_ref::<StreamableHttpError<ExchangeError>>()? {
        StreamableHttpError::AuthRequired(required) => Some(challenge(&required.www_authenticate_header)),
        StreamableHttpError::InsufficientScope(scope) => Some(challenge(&scope.www_authenticate_header)),
        StreamableHttpError::HttpStatus(status) => {
            Some(HttpFailure::Status { status: status.status, retry_after: status.retry_after.clone() })
        }
        StreamableHttpError::Client(error) => {
            let problem = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            Some(HttpFailure::NoResponse { problem: text::cut(&problem, HEADER_BYTES_MAX).to_owned() })
        }
        _ => None,
    }
}
