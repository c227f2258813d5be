//! The calls that wait for their clients to make the request again with an answer.

use super::running::Running;
use super::shelf::Shelf;
use portcullis::Question;
use rmcp::model::RequestStateCodec;
use std::sync::Arc;

/// The calls whose clients were sent away with a question.
pub(crate) struct Waiting {
    pub(super) calls: Shelf<Asked>,
    /// None where the system gives no randomness: no client is then sent away.
    pub(super) codec: Option<RequestStateCodec>,
}

/// A call, and the question that its client took away.
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
