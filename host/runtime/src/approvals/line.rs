//! The audit entries about approvals, as they are written.

use super::rolled_back::RolledBack;
use serde::Serialize;

/// The entry of a ledger that was rolled back.
#[derive(Serialize)]
pub(super) struct RollbackLine {
    event: &'static str,
    found: u64,
    expected: u64,
    approvals: usize,
    requests: usize,
    trusted: usize,
}

impl RollbackLine {
    pub(super) fn of(rolled_back: &RolledBack) -> Self {
        let RolledBack { found, expected, approvals, requests, trusted } = *rolled_back;
        Self { event: "rolled-back", found, expected, approvals, requests, trusted }
    }
}

/// The entry of an approval request. It is written before an approver is asked.
#[derive(Serialize)]
pub(super) struct AskedLine<'a> {
    pub(super) call: &'a str,
    pub(super) question: &'a str,
    pub(super) subject: String,
    pub(super) reason: &'a str,
    /// What the call would change, as the approver is shown it. Only a policy that keeps texts keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) difference: Option<&'a str>,
    /// The length of the whole difference in bytes, if only its beginning is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) difference_bytes: Option<usize>,
}

/// The entry of an answer. It is written before the answer takes effect.
#[derive(Serialize)]
pub(crate) struct AnswerLine<'a> {
    pub(crate) call: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<&'a str>,
    pub(crate) subject: String,
    /// An approver's `yes`, `session`, `always`, `part` or `no`; `remembered` or `expired`; or `ask` or `refuse` of the
    /// plugin's review.
    pub(crate) answer: &'a str,
    /// What a remembered approval covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) covers: Option<String>,
    /// The id of the remembered approval that was given or used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'a str>,
    /// Who answered, if they had signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<&'a str>,
}

/// The entry of a revocation.
#[derive(Serialize)]
pub(super) struct RevocationLine<'a> {
    pub(super) held: &'a str,
    pub(super) tool: &'a str,
    pub(super) principal: &'a str,
    /// Who revoked it, if they had signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<&'a str>,
}

/// The entry of a withdrawn request.
#[derive(Serialize)]
pub(super) struct WithdrawalLine<'a> {
    pub(super) call: &'a str,
    pub(super) question: &'a str,
    pub(super) why: &'a str,
}

/// The entry of a change of trust in a file.
#[derive(Serialize)]
pub(super) struct TrustLine<'a> {
    pub(super) sha256: &'a str,
    pub(super) path: &'a str,
    pub(super) trusted: bool,
}
