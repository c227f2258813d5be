//! Calls that outlive the request of their client, on hosts that share a ledger: any of them can say what the call
//! does, pass on its reply, and cancel it.
//!
//! A call runs where it began. That host reports each step of it here, and hears if the client cancels it. An
//! approval request of the call is answered through [`crate::Approvals`], on any host.

mod kept_reply;
mod known_code;
mod news;
mod state;

pub use news::{SharedCallStop, SharedCallWatch};
pub use portcullis_ledger::ledger::SharedCallKind;
pub use state::{SharedCall, SharedCallState};

use crate::ledger::{
    CallLedger, Durable, LedgerChange, LedgerError, LedgerUsers, Owner, SharedCallRoom, SharedCallRow, blocking,
    is_busy, is_unreachable, milliseconds,
};
use crate::places::HostDirectories;
use crate::text::new_id;
use data_encoding::HEXLOWER;
use news::NewsBoard;
use portcullis_policy::{Principal, ToolName};
use state::{WrittenState, shown};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The label from which the key of clients' states is derived.
const STATE_KEY_LABEL: &[u8] = b"portcullis states of clients, version 1";

/// The label from which the id of the hosts is derived.
const HOSTS_ID_LABEL: &[u8] = b"portcullis hosts of one ledger, version 1";

/// The shared calls of a ledger. Clones share them.
#[derive(Clone)]
pub struct SharedCalls(Arc<SharedCallsState>);

struct SharedCallsState {
    ledger: Arc<CallLedger>,
    owner: Arc<Owner>,
    news: NewsBoard,
    state_key: [u8; 32],
    hosts_id: String,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// Every host knows it.
    Known,
    /// The call is no longer shared: it has expired, or other hosts took this one for dead. No client can get its
    /// reply.
    Gone,
}

impl fmt::Debug for SharedCalls {
    /// Leaves out the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedCalls").finish_non_exhaustive()
    }
}

impl SharedCalls {
    /// Returns the shared calls of a ledger. `None` if only the processes of one state directory use it.
    pub(crate) fn of(ledger: &Arc<CallLedger>, owner: &Arc<Owner>, state: &HostDirectories) -> Option<Self> {
        match ledger.users() {
            LedgerUsers::OneDirectory => None,
            LedgerUsers::ManyDirectories => Some(Self(Arc::new(SharedCallsState {
                ledger: Arc::clone(ledger),
                owner: Arc::clone(owner),
                news: NewsBoard::start(Arc::clone(ledger)),
                state_key: state.ledger_key_for(STATE_KEY_LABEL),
                hosts_id: HEXLOWER.encode(&state.ledger_key_for(HOSTS_ID_LABEL)),
            }))),
        }
    }

    /// Returns a key that every host of the ledger has, to seal states that clients keep.
    pub fn state_key(&self) -> [u8; 32] {
        self.0.state_key
    }

    /// Returns an id that all hosts of the ledger have in common, and no others. It is not secret.
    pub fn hosts_id(&self) -> String {
        self.0.hosts_id.clone()
    }

    /// Returns whether the database could be reached a moment ago. A wait that only looks leaves it alone otherwise.
    pub fn is_reachable(&self) -> bool {
        matches!(self.0.ledger.version(), Ok(Some(_)))
    }

    /// Shares a call that runs in this process, for `lifetime`. Returns `None` if the principal, or all of them, have
    /// too many shared calls. Report each later state with [`SharedCalls::report`].
    ///
    /// # Errors
    /// The ledger cannot be written. The call is not shared then.
    pub async fn share(
        &self,
        (kind, principal, tool): (SharedCallKind, &Principal, &ToolName),
        state: &SharedCallState,
        lifetime: Duration,
    ) -> Result<Option<SharedCall>, LedgerError> {
        let WrittenState { phase, question, body } = WrittenState::of(state)?;
        let row = SharedCallRow {
            id: new_id().ok_or_else(|| io::Error::other("the system has no randomness"))?,
            kind,
            principal: principal.to_string(),
            tool: tool.to_string(),
            owner: self.0.owner.id().to_owned(),
            phase,
            question,
            body,
            round: 1,
            revision: 1,
            cancelled: false,
            begun_at: 0,
            changed_at: 0,
            expires_at: 0,
        };
        self.change(move |change| {
            // The hosts have different clocks, and the ledger has one for all.
            let now = change.now();
            let row = SharedCallRow { begun_at: now, changed_at: now, expires_at: until(now, lifetime), ..row };
            Ok(match change.share_call(&row)? {
                SharedCallRoom::Found => Some(shown(change, row)?),
                SharedCallRoom::Full => None,
            })
        })
        .await
    }

    /// Reports what a call of this process does now.
    ///
    /// # Errors
    /// The ledger cannot be written. Report the newest state again later.
    pub async fn report(&self, id: &str, state: &SharedCallState) -> Result<Reported, LedgerError> {
        let (id, written) = (id.to_owned(), WrittenState::of(state)?);
        self.change(move |change| {
            let Some(row) = change.shared_call(&id)?.filter(|row| !row.phase.has_ended()) else {
                return Ok(Reported::Gone);
            };
            let WrittenState { phase, question, body } = written;
            let changed_at = change.now();
            change.change_shared_call(&SharedCallRow { phase, question, body, changed_at, ..row })?;
            Ok(Reported::Known)
        })
        .await
    }

    /// Returns a shared call of a principal. A call whose process has died is lost from then on.
    ///
    /// # Errors
    /// The ledger cannot be read, or another program has changed the call.
    pub async fn find(
        &self,
        kind: SharedCallKind,
        principal: &Principal,
        id: &str,
    ) -> Result<Option<SharedCall>, LedgerError> {
        let (ledger, wanted) = (Arc::clone(&self.0.ledger), WantedCall::of(kind, principal, id));
        let looked = blocking(move || {
            ledger.look(|change| {
                let Some(row) = wanted.find(change)? else { return Ok(FoundCall::None) };
                if change.is_abandoned(&row)? {
                    return Ok(FoundCall::Abandoned(wanted));
                }
                shown(change, row).map(FoundCall::Call)
            })
        });
        match looked.await? {
            FoundCall::None => Ok(None),
            FoundCall::Call(call) => Ok(Some(call)),
            // Only a dead call costs the lock of changes. It is judged again under the lock.
            FoundCall::Abandoned(wanted) => self.change(move |change| wanted.find_settled(change)).await,
        }
    }

    /// Takes the turn of a client that makes its request again: `round` then no longer counts. Returns `None` if it did
    /// not count any more, or if the principal has no such call. The call is kept for `lifetime` from now on.
    ///
    /// # Errors
    /// The ledger cannot be written. The round still counts then.
    pub async fn take_turn(
        &self,
        principal: &Principal,
        (id, round): (&str, u64),
        lifetime: Duration,
    ) -> Result<Option<SharedCall>, LedgerError> {
        let (wanted, round) = (WantedCall::of(SharedCallKind::Round, principal, id), i64::try_from(round).ok());
        self.change(move |change| {
            let Some(row) = wanted.find(change)?.filter(|row| Some(row.round) == round) else { return Ok(None) };
            let expires_at = until(change.now(), lifetime);
            let next = SharedCallRow { round: row.round.saturating_add(1), expires_at, ..row };
            change.change_shared_call(&next)?;
            wanted.find_settled(change)
        })
        .await
    }

    /// Leaves a call to the next request of its client, for `lifetime`. Returns `None` if the call is gone.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub async fn leave(
        &self,
        kind: SharedCallKind,
        principal: &Principal,
        id: &str,
        lifetime: Duration,
    ) -> Result<Option<SharedCall>, LedgerError> {
        let wanted = WantedCall::of(SharedCallKind::Round, principal, id);
        self.change(move |change| {
            let Some(row) = wanted.find(change)? else { return Ok(None) };
            let left = SharedCallRow { kind, expires_at: until(change.now(), lifetime), ..row };
            change.change_shared_call(&left)?;
            shown(change, left).map(Some)
        })
        .await
    }

    /// Cancels a call where it runs, if it is not over. Returns whether the principal has such a call.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub async fn cancel(&self, kind: SharedCallKind, principal: &Principal, id: &str) -> Result<bool, LedgerError> {
        let wanted = WantedCall::of(kind, principal, id);
        self.change(move |change| {
            let Some(row) = wanted.find(change)? else { return Ok(false) };
            if !row.phase.has_ended() && !row.cancelled {
                change.change_shared_call(&SharedCallRow { cancelled: true, ..row })?;
            }
            Ok(true)
        })
        .await
    }

    /// Forgets a call. Its process ends it, if it still runs.
    ///
    /// # Errors
    /// The ledger cannot be written. The call then expires.
    pub async fn forget(&self, id: &str) -> Result<(), LedgerError> {
        let id = id.to_owned();
        self.change(move |change| change.forget_shared_call(&id)).await
    }

    /// Starts to watch a shared call.
    pub fn watch(&self, id: &str) -> SharedCallWatch {
        self.0.news.watch(id)
    }

    /// Changes the ledger on a thread that may block.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let ledger = Arc::clone(&self.0.ledger);
        let changed = blocking(move || ledger.change(Durable::Process, work)).await;
        self.0.news.look_now();
        changed
    }
}

/// Returns whether an error says that the database cannot be reached or is busy, so that the same can work later.
pub fn may_work_later(error: &LedgerError) -> bool {
    is_unreachable(error) || is_busy(error)
}

/// What finding a call tells.
enum FoundCall {
    None,
    Call(SharedCall),
    /// Its process has died.
    Abandoned(WantedCall),
}

/// A call that a client names.
struct WantedCall {
    kind: SharedCallKind,
    principal: String,
    id: String,
}

impl WantedCall {
    fn of(kind: SharedCallKind, principal: &Principal, id: &str) -> Self {
        Self { kind, principal: principal.to_string(), id: id.to_owned() }
    }

    /// Returns the row, if it belongs to the principal.
    fn find(&self, change: &LedgerChange<'_>) -> Result<Option<SharedCallRow>, LedgerError> {
        let found = change.shared_call(&self.id)?;
        Ok(found.filter(|row| row.kind == self.kind && row.principal == self.principal))
    }

    /// Returns the call, which is lost if its process has died.
    fn find_settled(&self, change: &LedgerChange<'_>) -> Result<Option<SharedCall>, LedgerError> {
        let Some(row) = self.find(change)? else { return Ok(None) };
        let row = if change.is_abandoned(&row)? { change.lose_shared_call(&row)? } else { row };
        shown(change, row).map(Some)
    }
}

/// Settles the shared calls that have expired, or whose process has died.
pub(crate) fn settle(ledger: &CallLedger) -> Result<(), LedgerError> {
    // Mostly there is nothing to settle, and a look takes no lock of changes.
    if ledger.users() == LedgerUsers::OneDirectory || !ledger.look(|change| change.has_stale_shared_calls())? {
        return Ok(());
    }
    ledger.change(Durable::Process, |change| change.settle_shared_calls())
}

fn until(now: i64, lifetime: Duration) -> i64 {
    now.saturating_add(milliseconds(lifetime))
}
