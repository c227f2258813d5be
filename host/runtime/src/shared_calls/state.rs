//! What a shared call does, and its form in the ledger.

use super::kept_reply::KeptReply;
use crate::approver::Question;
use crate::ledger::{LedgerChange, LedgerError, SharedCallPhase, SharedCallRow, Status, form_error};
use crate::reply::Reply;
use portcullis_ledger::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// The name of a shared call in errors about its form.
const FORM: &str = "shared call";

/// A shared call in its current state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SharedCall {
    /// The id of the call among the shared ones, 128 random bits in hexadecimal. It is not the id of the call in the
    /// audit log.
    pub id: String,
    /// The full name of the tool.
    pub tool: String,
    /// What the call does.
    pub state: SharedCallState,
    /// The number of the client's next request.
    pub round: u64,
    /// When the call was shared.
    pub begun_at: Timestamp,
    /// When the call last did something else.
    pub changed_at: Timestamp,
    /// How long the call is kept, counted from `begun_at`.
    pub lifetime: Duration,
}

/// What a shared call does.
#[derive(Clone, Debug)]
pub enum SharedCallState {
    /// It works.
    Works,
    /// It waits for an approver. The request is as the host of the call announced it.
    Asks(Arc<Question>),
    /// It is over.
    Over(Arc<Reply>),
    /// The process that ran it has ended before the call was over. What it did until then remains.
    Lost,
}

impl SharedCallState {
    /// Returns whether the call has ended.
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Works | Self::Asks(_) => false,
            Self::Over(_) | Self::Lost => true,
        }
    }
}

/// The columns of a state.
pub(super) struct WrittenState {
    pub(super) phase: SharedCallPhase,
    pub(super) question: Option<String>,
    pub(super) body: Option<String>,
}

impl WrittenState {
    /// Returns the columns of a state.
    pub(super) fn of(state: &SharedCallState) -> Result<Self, LedgerError> {
        let written = |body: serde_json::Result<String>| body.map(Some).map_err(|error| form_error(FORM, error));
        Ok(match state {
            SharedCallState::Works => Self { phase: SharedCallPhase::Work, question: None, body: None },
            SharedCallState::Lost => Self { phase: SharedCallPhase::Lost, question: None, body: None },
            SharedCallState::Asks(question) => Self {
                phase: SharedCallPhase::Asking,
                question: Some(question.id.clone()),
                body: written(serde_json::to_string(&**question))?,
            },
            SharedCallState::Over(reply) => Self {
                phase: SharedCallPhase::Over,
                question: None,
                body: written(serde_json::to_string(&KeptReply::of(reply)))?,
            },
        })
    }
}

/// Returns a call as its client sees it. A call whose approval request is answered works, even if the call does not
/// know the answer yet.
pub(super) fn shown(change: &LedgerChange<'_>, row: SharedCallRow) -> Result<SharedCall, LedgerError> {
    let state = match (row.phase, &row.question, &row.body) {
        (SharedCallPhase::Work, _, _) => SharedCallState::Works,
        (SharedCallPhase::Lost, _, _) => SharedCallState::Lost,
        (SharedCallPhase::Asking, Some(question), Some(body)) => match change.question(question)? {
            Some(asked) if asked.status == Status::Pending => SharedCallState::Asks(Arc::new(parsed(&row.id, body)?)),
            Some(_) | None => SharedCallState::Works,
        },
        (SharedCallPhase::Over, _, Some(body)) => {
            let kept: KeptReply = parsed(&row.id, body)?;
            let reply = kept.reply().ok_or_else(|| form_error(&row.id, "the reply has an unknown code"))?;
            SharedCallState::Over(Arc::new(reply))
        }
        (SharedCallPhase::Asking | SharedCallPhase::Over, _, _) => return Err(form_error(&row.id, "it is incomplete")),
    };
    let lifetime = u64::try_from(row.expires_at.saturating_sub(row.begun_at)).unwrap_or_default();
    Ok(SharedCall {
        id: row.id,
        tool: row.tool,
        state,
        round: u64::try_from(row.round).unwrap_or_default(),
        begun_at: Timestamp::from_row(row.begun_at),
        changed_at: Timestamp::from_row(row.changed_at),
        lifetime: Duration::from_millis(lifetime),
    })
}

fn parsed<T: serde::de::DeserializeOwned>(id: &str, body: &str) -> Result<T, LedgerError> {
    serde_json::from_str(body).map_err(|error| form_error(id, error))
}
