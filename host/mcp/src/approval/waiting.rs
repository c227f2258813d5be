//! The calls that wait for their clients to retry the request with an answer.

use super::running::RunningCall;
use super::shelf::TimedShelf;
use rmcp::model::RequestStateCodec;

/// The calls whose clients are expected to retry with an answer.
pub(crate) struct ParkedCalls {
    pub(super) calls: TimedShelf<RunningCall>,
    /// `None` if the system's random number generator failed. No client is asked by a result then.
    pub(super) codec: Option<RequestStateCodec>,
}

impl Default for ParkedCalls {
    fn default() -> Self {
        let mut key = [0_u8; RequestStateCodec::MIN_KEY_LENGTH];
        let codec = getrandom::fill(&mut key).ok().and_then(|()| RequestStateCodec::try_new(key).ok());
        Self { calls: TimedShelf::default(), codec }
    }
}
