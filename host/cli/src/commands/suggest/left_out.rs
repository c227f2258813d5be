//! What was approved and gets no proposal.

use serde::Serialize;

/// Something that was approved, and why no rule is proposed for it.
#[derive(Serialize)]
pub(super) struct LeftOut {
    pub(super) tool: String,
    pub(super) why: String,
}
