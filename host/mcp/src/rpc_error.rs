//! The JSON-RPC errors that are this server's own. MCP leaves the codes from -32019 to -32000 to servers.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use std::borrow::Cow;

/// The server stops. SDKs use this code for a closed connection.
const STOPPING: ErrorCode = ErrorCode(-32000);

/// The client has too much open. Other JSON-RPC servers use this code for an exceeded limit as well.
const LIMIT_EXCEEDED: ErrorCode = ErrorCode(-32005);

/// Returns the error for a call that is not made, or not finished, because the server stops.
pub(crate) fn stopping(message: &'static str) -> ErrorData {
    ErrorData::new(STOPPING, message, None)
}

/// Returns the error for a request that is refused because its client has too much open. The message says what to end
/// first.
pub(crate) fn limit_exceeded(message: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::new(LIMIT_EXCEEDED, message, None)
}
