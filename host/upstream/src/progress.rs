//! What a server reports about a running call.

use portcullis_definitions::text;
use rmcp::model::ProgressNotificationParam;

/// Maximum length of the message of a report, in bytes.
const MESSAGE_BYTES_MAX: usize = 1024;

/// A report of a server about a running call. Untrusted.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerProgress {
    /// The work done so far, in the server's unit. A finite number.
    pub progress: f64,
    /// The whole work, if the server knows it. A finite number.
    pub total: Option<f64>,
    /// What the server is doing, cut to 1024 bytes.
    pub message: Option<String>,
}

impl ServerProgress {
    pub(crate) fn of(params: &ProgressNotificationParam) -> Self {
        Self {
            progress: if params.progress.is_finite() { params.progress } else { 0.0 },
            total: params.total.filter(|total| total.is_finite()),
            message: params.message.as_deref().map(|message| text::cut(message, MESSAGE_BYTES_MAX).to_owned()),
        }
    }
}
