//! The lines of the record that are about answers, as they are written.

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

/// A question, before it is put to a person.
#[derive(Serialize)]
pub(super) struct AskedLine<'a> {
    pub(super) call: &'a str,
    pub(super) question: &'a str,
    pub(super) subject: String,
    pub(super) reason: &'a str,
}

/// An answer, before it takes effect.
#[derive(Serialize)]
pub(crate) struct AnswerLine<'a> {
    pub(crate) call: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<&'a str>,
    pub(crate) subject: String,
    /// `yes`, `session`, `always`, `no`, `expired`, or `remembered`.
    pub(crate) answer: &'a str,
    /// What an answer for longer covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) covers: Option<String>,
    /// The answer for longer that was given, or used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'a str>,
}

/// An answer that was taken back.
#[derive(Serialize)]
pub(super) struct RevocationLine<'a> {
    pub(super) held: &'a str,
    pub(super) tool: &'a str,
    pub(super) principal: &'a str,
}

/// A question that nobody asks any more.
#[derive(Serialize)]
pub(super) struct WithdrawalLine<'a> {
    pub(super) call: &'a str,
    pub(super) question: &'a str,
    pub(super) why: &'a str,
}

/// A file that is trusted from here on, or no longer.
#[derive(Serialize)]
pub(super) struct TrustLine<'a> {
    pub(super) sha256: &'a str,
    pub(super) path: &'a str,
    pub(super) trusted: bool,
}
