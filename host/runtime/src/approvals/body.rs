//! The part of an open approval request that the ledger stores.

use super::asked_under::AskedUnder;
use super::binding::ApprovalBinding;
use super::concern::Concern;
use super::error::ApprovalError;
use super::preview::CallPreview;
use crate::approver::Question;
use crate::ledger::{self, QuestionRow};
use crate::origin::RequestOrigin;
use portcullis_policy::{Pattern, Principal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The part of an open request that the ledger stores: what approvers see, and what is needed to run the call later.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionBody {
    pub(crate) question: Question,
    pub(crate) binding: ApprovalBinding,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) automated: bool,
    pub(crate) message: Option<String>,
    pub(crate) agent: Option<String>,
    /// The model that made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The toolset that the caller is limited to. It limits the calls that an approved call makes later, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) toolset: Option<String>,
    /// Whether the policy keeps payloads. Hosts of an earlier version read it.
    pub(crate) keeps_payloads: bool,
    /// What a remembered approval of exactly this shows to people: the beginning, without secrets. Requests of an
    /// earlier version have none, and their approvals show a digest.
    #[serde(default)]
    pub(crate) covered_text: String,
    /// How long an approval for a session is valid, in milliseconds. The next field is the same for all sessions.
    pub(crate) session_milliseconds: i64,
    pub(crate) always_milliseconds: i64,
    /// The changes that the plugin computed. The difference to the current files is computed whenever the request is
    /// shown.
    #[serde(default)]
    pub(crate) preview: Option<CallPreview>,
    /// What a later policy needs to decide on the call again. `None` if a running call asks.
    #[serde(default)]
    pub(crate) asked_under: Option<AskedUnder>,
}

impl QuestionBody {
    /// Returns the concerns that the approver is shown.
    pub(super) fn concerns(&self) -> &[Concern] {
        self.asked_under.as_ref().map_or(&[], |asked| &asked.observed.concerns)
    }

    /// Computes the diff against the current files.
    pub(super) fn difference(&self) -> Option<String> {
        self.preview.as_ref().map(CallPreview::difference)
    }

    pub(super) fn parse(id: &str, text: Option<&str>) -> Result<Self, ApprovalError> {
        let text = text.ok_or(ApprovalError::Gone)?;
        Ok(serde_json::from_str(text).map_err(|error| ledger::form_error(id, error))?)
    }

    /// Returns the origin of the call.
    pub(super) fn origin(&self, row: &QuestionRow) -> Result<RequestOrigin, ApprovalError> {
        let principal: Principal = row.principal.parse().map_err(|error| ledger::form_error(&row.id, error))?;
        Ok(RequestOrigin {
            session: Arc::from(&*row.session),
            principal,
            automated: self.automated,
            message: self.message.as_deref().map(Arc::from),
            agent: self.agent.as_deref().map(Arc::from),
            model: self.model.as_deref().map(Arc::from),
            toolset: self.toolset.as_deref().map(Arc::from),
            trace: None,
        })
    }
}
