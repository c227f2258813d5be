//! The data of one approval request.

use super::asked_under::AskedUnder;
use super::binding::ApprovalBinding;
use super::concern::Concern;
use super::preview::CallPreview;
use crate::approver::Question;
use crate::ledger;
use portcullis_policy::Pattern;
use portcullis_sandbox::Network;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// Everything about one approval request.
#[derive(Clone)]
pub(crate) struct ApprovalCase {
    pub(crate) question: Question,
    pub(crate) subject: ledger::QuestionSubject,
    pub(crate) binding: ApprovalBinding,
    /// The arguments or the resource that the request is about.
    pub(crate) covered: Map<String, Value>,
    /// The patterns that the host offers for a remembered approval.
    pub(crate) patterns: Vec<Pattern>,
    /// Whether the policy or a fixed rule of the host asks.
    pub(crate) by_host: bool,
    /// The concerns of reviewers and hooks.
    pub(crate) concerns: Vec<Concern>,
    /// The changes that the call would make. They are computed just before an approver is asked.
    pub(crate) preview: Option<CallPreview>,
    /// Whether remembered approvals do not apply, because the arguments were repaired or no schema checked them.
    pub(crate) afresh: bool,
    pub(crate) automated: bool,
    pub(crate) message: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) toolset: Option<String>,
    pub(crate) keeps_payloads: bool,
    /// What removes secrets from the difference for the audit log. `None` if the policy keeps no texts.
    pub(crate) difference_redactor: Option<Network>,
    /// What a remembered approval of exactly this shows to people.
    pub(crate) covered_text: String,
    /// The command that tells a person of the request. There is none if it is empty.
    pub(crate) notify: Arc<[String]>,
    pub(crate) times: Times,
    pub(crate) asked_under: Option<AskedUnder>,
}

impl ApprovalCase {
    /// Returns the digest of what an approval of this is bound to.
    pub(crate) fn digest(&self) -> String {
        self.binding.digest(&self.covered, &self.question.session)
    }

    /// Returns whether the request is about a call that was repeated several times.
    pub(crate) fn is_repetition(&self) -> bool {
        self.subject == ledger::QuestionSubject::Repeat
    }
}

/// How long requests, calls and approvals last.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// How long the call waits for an answer.
    pub(crate) waiting: Duration,
    /// When the call stops waiting and leaves its request open. Its caller then makes the call again.
    pub(crate) leaving: Option<Duration>,
    /// How long the request can be answered after its process has ended.
    pub(crate) pending: Duration,
    /// How long an approval for a session is valid.
    pub(crate) session: Duration,
    /// How long an approval for all sessions is valid.
    pub(crate) always: Duration,
}
