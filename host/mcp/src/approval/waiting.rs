//! The calls that wait for their clients to make the request again with an answer.

use super::running::Running;
use super::shelf::Shelf;
use portcullis::Question;
use rmcp::model::RequestStateCodec;
use std::sync::Arc;

/// The calls whose clients are expected to retry with an answer.
pub(crate) struct Waiting {
    pub(super) calls: Shelf<Asked>,
    /// `None` if the system's random number generator failed. No client is asked by a result then.
    pub(super) codec: Option<RequestStateCodec>,
}

/// A waiting call, and the approval request that its client received.
pub(super) struct Asked {
    pub(super) running: Running,
    pub(super) question: Arc<Question>,
}

impl Default for Waiting {
    fn default() -> Self {
        let mut key = [0_u8; RequestStateCodec::MIN_KEY_LENGTH];
        let codec = getrandom::fill(&mut key).ok().and_then(|()| RequestStateCodec::try_new(key).ok());
        Self { calls: Shelf::default(), codec }
    }
}
