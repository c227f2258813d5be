//! Approvals: a person is asked, the answer is bound to what they saw, and it is spent by one execution.
//!
//! Every ask ends here, whether a rule, a plugin's review, a repetition or a running call caused it, and every answer
//! goes through one transaction of the ledger, whichever channel it came by. It must not know how a call is run.

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
pub use trust::TrustError;

use crate::approver::{Approver, Question};
use crate::audit::{AuditError, AuditLog};
use crate::ledger::{Ledger, LedgerError, OpenCount, Owner, Status};
use portcullis_policy::{Pattern, Principal, Unattended};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::Notify;

/// The most questions that are open in one session: more than any person answers, and a flood is cut off.
const SESSION_QUESTIONS_MAX: usize = 1024;

/// Maximum open questions of one principal, its sub-agents included. It is half of all, so that no principal takes
/// every place.
const PRINCIPAL_QUESTIONS_MAX: usize = QUESTIONS_MAX / 2;

/// Maximum open questions in all. Each holds its arguments, 1 MiB at most, and the texts of a preview, 2 MiB at most.
const QUESTIONS_MAX: usize = 4096;

/// Whether there is no place for one more question.
fn is_full(open: OpenCount) -> bool {
    open.all >= QUESTIONS_MAX
        || open.of_principal >= PRINCIPAL_QUESTIONS_MAX
        || open.of_session >= SESSION_QUESTIONS_MAX
}

/// Why an approval cannot be given, taken back or spent. Whatever it is, the call does not run.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// There is none of this id, or none that the asker may know of.
    #[error("there is no question and no answer with this id: `portcullis approvals list` shows them")]
    Unknown,
    /// It was answered before, or has ended.
    #[error("it is {0} already")]
    Settled(Status),
    /// Its time is over.
    #[error("it has expired: make the call again")]
    Expired,
    /// The call that asked it has gone, so that no answer helps.
    #[error("the call that asked has gone: make it again")]
    Gone,
    /// What was approved is not what would run now.
    #[error("it is no longer the call that was asked about: {0}; make the call again")]
    Changed(String),
    /// The process that asked still waits: the call goes on there.
    #[error("the process that asked still waits for it")]
    WaitedFor,
    /// The answer covers something that was not offered.
    #[error("the question offers no such pattern: `portcullis approvals show` lists those it offers")]
    NotOffered,
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The record.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// It has taken effect, and its entry in the audit log could not be written yet.
    #[error(
        "it has taken effect, but the audit log could not be written: {0}; the entry follows as soon as the log can be \
         written again"
    )]
    Unrecorded(AuditError),
}

/// Who is asked.
#[derive(Clone)]
pub(crate) enum Channel {
    /// This one, and whoever answers through the ledger.
    Approver(Arc<dyn Approver>),
    /// Only whoever answers through the ledger; the call waits.
    Elsewhere,
    /// Nobody while the call waits.
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

/// The approvals of a state directory. Clones share them. Whoever holds this answers for the person.
#[derive(Clone)]
pub struct Approvals {
    shared: Arc<Shared>,
    /// Only questions of this principal and of whoever acts for it.
    within: Option<Principal>,
}

struct Shared {
    ledger: Arc<Ledger>,
    audit: Arc<AuditLog>,
    owner: Mutex<Option<Arc<Owner>>>,
    /// Something was answered in this process.
    answered: Notify,
    rolled_back: OnceLock<RolledBack>,
    refusals: repetition::Refusals,
    attention: repetition::Attention,
    /// How many calls of this process wait for each approval request.
    waiters: attendance::Waiters,
    /// Approval requests whose calls have left, by their binding.
    left: left::LeftRequests,
}

/// What the ledger keeps of an open question: what a person is shown, and what it takes to run the call later.
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
    /// How long an answer for the session holds, and one for always, in milliseconds.
    pub(crate) session_milliseconds: i64,
    pub(crate) always_milliseconds: i64,
    /// What the call would change, as its plugin computes; the difference to the files is computed whenever the
    /// question is shown.
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

    /// The same approvals as far as they are of this principal and of whoever acts for it: every other id is unknown.
    #[must_use]
    pub fn within(&self, principal: &Principal) -> Self {
        Self { shared: Arc::clone(&self.shared), within: Some(principal.clone()) }
    }

    /// Whether a question or an answer is one this handle may know of.
    fn may_know(&self, principal: &str) -> bool {
        let Some(within) = &self.within else { return true };
        let below = principal.strip_prefix(within.as_str());
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// This process, as one that runs calls and waits; made when it does so for the first time.
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
    /// What reviewers and hooks asked, as the approver is shown it.
    fn concerns(&self) -> &[Concern] {
        self.asked_under.as_ref().map_or(&[], |asked| &asked.observed.concerns)
    }

    /// Computes what to show of the files that the call would change, as they are now.
    fn difference(&self) -> Option<String> {
        self.preview.as_ref().map(Preview::difference)
    }

    fn parse(id: &str, text: Option<&str>) -> Result<Self, ApprovalError> {
        let text = text.ok_or(ApprovalError::Gone)?;
        Ok(serde_json::from_str(text).map_err(|error| LedgerError::form(id, error))?)
    }
}
