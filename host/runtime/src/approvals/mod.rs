//! Approval requests and approvals. An approval is bound to what the approver saw, and one execution spends it.
//!
//! Every request goes through this module, whether a rule, a reviewer, a repetition or a running call causes it. Every
//! answer goes through one transaction of the ledger, whatever channel it comes from. This module must not know how a
//! call is run.

mod answer;
mod ask;
mod attendance;
mod binding;
mod claim;
mod concern;
mod desk;
mod difference;
mod foresee;
mod join;
mod left;
pub(crate) mod line;
mod preview;
mod principal_map;
mod recall;
mod recorded;
mod repetition;
mod rollback;
mod sweep;
mod trust;
mod wait;

pub use answer::Onward;
pub(crate) use answer::{NOTE_BYTES_MAX, proposals, resource_arguments};
pub(crate) use ask::{Asked, Case, Times, WaitingFor, unkept};
pub(crate) use binding::Binding;
pub(crate) use claim::Ticket;
pub(crate) use concern::{Asker, Concern};
pub use desk::{HeldAnswer, Listing, OpenQuestion};
pub(crate) use foresee::Foreseen;
pub(crate) use left::{AskedUnder, LeftCall, Observed};
pub(crate) use preview::{Preview, TEXTS_BYTES_MAX as PREVIEW_TEXTS_BYTES_MAX, WritableDirectory};
pub(crate) use repetition::{Repetition, Row as RepetitionRow};
pub use rollback::RolledBack;

use crate::approver::{Approver, Question};
use crate::audit::{AuditError, AuditLog};
use crate::ledger::{Ledger, LedgerError, OpenCount, Owner, Status};
use portcullis_policy::{Pattern, Principal, Unattended};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::Notify;

/// Maximum open requests of one session. It is more than a person answers, and it stops a flood.
const SESSION_QUESTIONS_MAX: usize = 1024;

/// Maximum open requests of one principal, its sub-agents included. It is half of all, so that no principal can take
/// every place.
const PRINCIPAL_QUESTIONS_MAX: usize = QUESTIONS_MAX / 2;

/// Maximum open requests in all. Each holds its arguments (at most 1 MiB) and the texts of a preview (at most 2 MiB).
const QUESTIONS_MAX: usize = 4096;

/// Returns whether no more requests can be opened.
fn is_full(open: OpenCount) -> bool {
    open.all >= QUESTIONS_MAX
        || open.of_principal >= PRINCIPAL_QUESTIONS_MAX
        || open.of_session >= SESSION_QUESTIONS_MAX
}

/// Why an approval cannot be given, revoked or spent. In every case, the call does not run.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// No request or approval has this id, or this handle may not see it.
    #[error("no approval request and no approval has this id: run `portcullis approvals list` to see the ids")]
    Unknown,
    /// It was already answered, or has ended.
    #[error("it is already {0}")]
    Settled(Status),
    /// It has expired.
    #[error("it has expired: make the call again")]
    Expired,
    /// The call that made the request has ended, so an answer has no effect.
    #[error("the call that made this request has ended: make the call again")]
    Gone,
    /// The call that would run now is not the approved one.
    #[error("the call is no longer the one that was requested: {0}; make the call again")]
    Changed(String),
    /// The process that made the request still waits, and runs the call itself.
    #[error("the process that made this request still waits, and runs the call itself")]
    WaitedFor,
    /// The answer covers a pattern that the request does not offer.
    #[error("the request offers no such pattern: run `portcullis approvals show` to list its patterns")]
    NotOffered,
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The change has taken effect, but its audit entry could not be written yet.
    #[error(
        "it has taken effect, but the audit log could not be written: {0}; the entry follows as soon as the log can be \
         written again"
    )]
    Unrecorded(AuditError),
}

/// Who answers approval requests.
#[derive(Clone)]
pub(crate) enum Channel {
    /// This approver, and answers through the ledger.
    Approver(Arc<dyn Approver>),
    /// Only answers through the ledger. The call waits for them.
    Elsewhere,
    /// No one while the call waits.
    Nobody(Unattended),
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Approver(_) => "Approver",
            Self::Elsewhere => "Elsewhere",
            Self::Nobody(_) => "Nobody",
        })
    }
}

/// A handle to the approval requests and approvals of a state directory. Clones share them. Code that holds this handle
/// can answer as an approver.
#[derive(Clone)]
pub struct Approvals {
    shared: Arc<Shared>,
    /// If set, only requests of this principal and of its sub-agents are visible.
    within: Option<Principal>,
}

struct Shared {
    ledger: Arc<Ledger>,
    audit: Arc<AuditLog>,
    owner: Mutex<Option<Arc<Owner>>>,
    /// Notified when a request is answered in this process.
    answered: Notify,
    rolled_back: OnceLock<RolledBack>,
    refusals: repetition::Refusals,
    attention: repetition::Attention,
    /// How many calls of this process wait for each approval request.
    waiters: attendance::Waiters,
    /// Approval requests whose calls have left, by their binding.
    left: left::LeftRequests,
}

/// The part of an open request that the ledger stores: what approvers see, and what is needed to run the call later.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    pub(crate) question: Question,
    pub(crate) binding: Binding,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) automated: bool,
    pub(crate) message: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) keeps_payloads: bool,
    /// How long an approval for a session is valid, in milliseconds. The next field is the same for all sessions.
    pub(crate) session_milliseconds: i64,
    pub(crate) always_milliseconds: i64,
    /// The changes that the plugin computed. The difference to the current files is computed whenever the request is
    /// shown.
    #[serde(default)]
    pub(crate) preview: Option<Preview>,
    /// What a later policy needs to decide on the call again. `None` if a running call asks.
    #[serde(default)]
    pub(crate) asked_under: Option<AskedUnder>,
}

impl Approvals {
    pub(crate) fn new(ledger: Arc<Ledger>, audit: Arc<AuditLog>) -> Result<Self, ApprovalError> {
        let shared = Shared {
            ledger,
            audit,
            owner: Mutex::new(None),
            answered: Notify::new(),
            rolled_back: OnceLock::new(),
            refusals: repetition::Refusals::default(),
            attention: repetition::Attention::default(),
            waiters: attendance::Waiters::default(),
            left: left::LeftRequests::default(),
        };
        let approvals = Self { shared: Arc::new(shared), within: None };
        approvals.settle_left()?;
        Ok(approvals)
    }

    /// Returns a handle that is restricted to this principal and its sub-agents. All other ids are unknown to it.
    #[must_use]
    pub fn within(&self, principal: &Principal) -> Self {
        Self { shared: Arc::clone(&self.shared), within: Some(principal.clone()) }
    }

    /// Returns whether this handle may see requests and approvals of a principal.
    fn may_know(&self, principal: &str) -> bool {
        let Some(within) = &self.within else { return true };
        let below = principal.strip_prefix(within.as_str());
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// Returns this process as an owner of requests. It is created when the process first runs or waits for a call.
    pub(crate) fn owner(&self) -> Result<Arc<Owner>, ApprovalError> {
        let mut owner = self.shared.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = &*owner {
            return Ok(Arc::clone(owner));
        }
        let new = Arc::new(self.shared.ledger.owner().map_err(LedgerError::from)?);
        *owner = Some(Arc::clone(&new));
        Ok(new)
    }
}

impl Body {
    /// Returns the concerns that the approver is shown.
    fn concerns(&self) -> &[Concern] {
        self.asked_under.as_ref().map_or(&[], |asked| &asked.observed.concerns)
    }

    /// Computes the diff against the current files.
    fn difference(&self) -> Option<String> {
        self.preview.as_ref().map(Preview::difference)
    }

    fn parse(id: &str, text: Option<&str>) -> Result<Self, ApprovalError> {
        let text = text.ok_or(ApprovalError::Gone)?;
        Ok(serde_json::from_str(text).map_err(|error| LedgerError::form(id, error))?)
    }
}
