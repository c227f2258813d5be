//! Calls that outlive the request of their client, in a ledger that several hosts share: what each does, its reply, and
//! whether its client has cancelled it. The host that runs a call owns its row and writes what it does. Every host can
//! read and cancel it.
//!
//! Only PostgreSQL has this table. A row has a seal, because its reply reaches a client, and because its round says
//! which state of a client still counts. It gives no right to run anything, so it makes no generation of the ledger.

use super::backend::{self, DatabaseFault, Row, SqlValue, params};
use super::database::LedgerChange;
use super::error::LedgerError;
use super::store::{ROOT_OF_PRINCIPAL, root_of_principal};
use std::collections::HashMap;

/// The table's name in its seals.
const TABLE: &str = "shared_call";

/// The columns of a row, in the order in which they are read.
const MEMBERS: &str = "id, kind, principal, tool, owner, phase, question, body, round, revision, cancelled, begun_at, \
                       changed_at, expires_at, seal";

/// Maximum shared calls of one kind of one principal, its sub-agents included: more calls than one person's agents have
/// waiting at one time.
const OWN_SHARED_CALLS_MAX: i64 = 64;

/// Maximum shared calls in all. Each holds at most one reply or one approval request, whose sizes the policy limits.
const SHARED_CALLS_MAX: i64 = 1024;

/// What a client does next about a shared call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedCallKind {
    /// It makes its request again, with an answer.
    Round,
    /// It polls a task.
    Task,
}

/// What a shared call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedCallPhase {
    /// It works.
    Work,
    /// It waits for an approver.
    Asking,
    /// It is over, and has a reply.
    Over,
    /// The process that ran it has ended before it was over.
    Lost,
}

/// A shared call in its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedCallRow {
    /// The id of the row, which is not guessable.
    pub id: String,
    /// What its client does next.
    pub kind: SharedCallKind,
    /// The principal of the call. No other one can reach it.
    pub principal: String,
    /// The full name of the tool.
    pub tool: String,
    /// The process that runs the call.
    pub owner: String,
    /// What the call does.
    pub phase: SharedCallPhase,
    /// The id of the approval request that the call waits for.
    pub question: Option<String>,
    /// The approval request or the reply, as JSON.
    pub body: Option<String>,
    /// The number of the client's next request. A request with another number was made before.
    pub round: i64,
    /// Increases with each change of the row.
    pub revision: i64,
    /// Whether the client has cancelled the call.
    pub cancelled: bool,
    /// When the row was written first, in milliseconds since 1970.
    pub begun_at: i64,
    /// When the call last did something else, in milliseconds since 1970.
    pub changed_at: i64,
    /// When the row expires, in milliseconds since 1970.
    pub expires_at: i64,
}

/// What a host must know of all shared calls to notice changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedCallNews {
    /// Increases with each change of the row.
    pub revision: i64,
    /// Whether the client has cancelled the call. It only takes away, so its seal need not be checked.
    pub cancelled: bool,
}

/// Whether there was room for one more shared call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedCallRoom {
    /// It was written.
    Found,
    /// The principal, or all of them, have too many.
    Full,
}

impl SharedCallKind {
    const ALL: [Self; 2] = [Self::Round, Self::Task];

    fn as_str(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Task => "task",
        }
    }
}

impl SharedCallPhase {
    const ALL: [Self; 4] = [Self::Work, Self::Asking, Self::Over, Self::Lost];

    fn as_str(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Asking => "asking",
            Self::Over => "over",
            Self::Lost => "lost",
        }
    }

    /// Returns whether the call has ended.
    pub fn has_ended(self) -> bool {
        match self {
            Self::Work | Self::Asking => false,
            Self::Over | Self::Lost => true,
        }
    }
}

impl SharedCallRow {
    /// Returns the columns that the seal covers, as text.
    fn sealed(&self) -> [String; 14] {
        // The sign tells an empty text from none.
        let optional = |text: &Option<String>| text.as_ref().map(|text| format!("={text}")).unwrap_or_default();
        [
            self.id.clone(),
            self.kind.as_str().to_owned(),
            self.principal.clone(),
            self.tool.clone(),
            self.owner.clone(),
            self.phase.as_str().to_owned(),
            optional(&self.question),
            optional(&self.body),
            self.round.to_string(),
            self.revision.to_string(),
            self.cancelled.to_string(),
            self.begun_at.to_string(),
            self.changed_at.to_string(),
            self.expires_at.to_string(),
        ]
    }
}

impl LedgerChange<'_> {
    /// Writes a new shared call, if there is room for it.
    pub fn share_call(&self, row: &SharedCallRow) -> Result<SharedCallRoom, LedgerError> {
        let count = format!(
            "SELECT count(*), count(*) FILTER (WHERE kind = ?1 AND {ROOT_OF_PRINCIPAL} = ?2) \
             FROM shared_call WHERE expires_at > ?3"
        );
        let values = params![row.kind.as_str(), root_of_principal(&row.principal), self.now()];
        let (all, own): (i64, i64) =
            self.transaction.only(&count, values, |counts| Ok((counts.get(0)?, counts.get(1)?)))?;
        if all >= SHARED_CALLS_MAX || own >= OWN_SHARED_CALLS_MAX {
            return Ok(SharedCallRoom::Full);
        }
        self.write_shared_call(row)?;
        Ok(SharedCallRoom::Found)
    }

    /// Returns a shared call that has not expired.
    pub fn shared_call(&self, id: &str) -> Result<Option<SharedCallRow>, LedgerError> {
        let select = format!("SELECT {MEMBERS} FROM shared_call WHERE id = ?1 AND expires_at > ?2");
        let found = self.transaction.row(&select, params![id, self.now()], read)?;
        found.map(|(row, seal)| self.checked_shared_call(row, &seal)).transpose()
    }

    /// Returns whether the process that runs a shared call has ended before the call was over.
    pub fn is_abandoned(&self, row: &SharedCallRow) -> Result<bool, LedgerError> {
        Ok(!row.phase.has_ended() && !self.is_alive(&row.owner)?)
    }

    /// Writes a changed shared call, with the next revision.
    pub fn change_shared_call(&self, row: &SharedCallRow) -> Result<(), LedgerError> {
        self.write_shared_call(&SharedCallRow { revision: row.revision.saturating_add(1), ..row.clone() })
    }

    /// Notes that a shared call is lost.
    pub fn lose_shared_call(&self, row: &SharedCallRow) -> Result<SharedCallRow, LedgerError> {
        let changed_at = self.now();
        let lost = SharedCallRow { phase: SharedCallPhase::Lost, body: None, changed_at, ..row.clone() };
        self.change_shared_call(&lost)?;
        Ok(lost)
    }

    /// Deletes a shared call.
    pub fn forget_shared_call(&self, id: &str) -> Result<(), LedgerError> {
        self.apply_to_shared_calls("DELETE FROM shared_call WHERE id = ?1", params![id])
    }

    /// Returns what changes of all shared calls that have not expired.
    pub fn shared_call_news(&self) -> Result<HashMap<String, SharedCallNews>, LedgerError> {
        let select = "SELECT id, revision, cancelled FROM shared_call WHERE expires_at > ?1";
        let read = |row: &Row<'_>| {
            let news = SharedCallNews { revision: row.get(1)?, cancelled: row.get(2)? };
            Ok((row.get(0)?, news))
        };
        Ok(self.transaction.rows(select, params![self.now()], read)?.into_iter().collect())
    }

    /// Returns whether a shared call has expired, or its process has ended before it was over.
    pub fn has_stale_shared_calls(&self) -> Result<bool, LedgerError> {
        let expired = "SELECT 1 FROM shared_call WHERE expires_at <= ?1";
        Ok(self.transaction.exists(expired, params![self.now()])? || !self.dead_owners_of_shared_calls()?.is_empty())
    }

    /// Deletes the shared calls that have expired, and notes which are lost. A row without a valid seal is deleted: no
    /// host can use it.
    pub fn settle_shared_calls(&self) -> Result<(), LedgerError> {
        let now = self.now();
        self.apply_to_shared_calls("DELETE FROM shared_call WHERE expires_at <= ?1", params![now])?;
        for owner in self.dead_owners_of_shared_calls()? {
            let select = format!("SELECT {MEMBERS} FROM shared_call WHERE owner = ?1 AND phase IN ('work', 'asking')");
            for (row, seal) in self.transaction.rows(&select, params![&owner], read)? {
                let id = row.id.clone();
                match self.checked_shared_call(row, &seal) {
                    Ok(row) => drop(self.lose_shared_call(&row)?),
                    Err(_) => self.forget_shared_call(&id)?,
                }
            }
        }
        Ok(())
    }

    fn dead_owners_of_shared_calls(&self) -> Result<Vec<String>, LedgerError> {
        let select = "SELECT DISTINCT owner FROM shared_call WHERE phase IN ('work', 'asking')";
        let owners: Vec<String> = self.transaction.rows(select, params![], |row| row.get(0))?;
        let mut dead = Vec::new();
        for owner in owners {
            if !self.is_alive(&owner)? {
                dead.push(owner);
            }
        }
        Ok(dead)
    }

    fn write_shared_call(&self, row: &SharedCallRow) -> Result<(), LedgerError> {
        let sealed = row.sealed();
        let seal = self.seal.of(TABLE, &sealed.each_ref().map(String::as_str));
        let replace = format!(
            "INSERT INTO shared_call ({MEMBERS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, \
             ?15) ON CONFLICT (id) DO UPDATE SET kind = ?2, phase = ?6, question = ?7, body = ?8, round = ?9, \
             revision = ?10, cancelled = ?11, changed_at = ?13, expires_at = ?14, seal = ?15"
        );
        let values = params![
            &row.id,
            row.kind.as_str(),
            &row.principal,
            &row.tool,
            &row.owner,
            row.phase.as_str(),
            &row.question,
            &row.body,
            row.round,
            row.revision,
            row.cancelled,
            row.begun_at,
            row.changed_at,
            row.expires_at,
            seal.as_slice(),
        ];
        self.apply_to_shared_calls(&replace, values)
    }

    fn checked_shared_call(&self, row: SharedCallRow, seal: &[u8]) -> Result<SharedCallRow, LedgerError> {
        let sealed = row.sealed();
        let holds = self.seal.holds(TABLE, &sealed.each_ref().map(String::as_str), seal);
        if holds { Ok(row) } else { Err(LedgerError::Seal(row.id)) }
    }

    fn apply_to_shared_calls(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<(), LedgerError> {
        self.transaction.execute(sql, values)?;
        Ok(())
    }
}

fn read(row: &Row<'_>) -> backend::Result<(SharedCallRow, Vec<u8>)> {
    let word = |index| row.get::<String>(index);
    let (kind, phase) = (word(1)?, word(5)?);
    let kind = SharedCallKind::ALL.into_iter().find(|known| known.as_str() == kind);
    let phase = SharedCallPhase::ALL.into_iter().find(|known| known.as_str() == phase);
    let call = SharedCallRow {
        id: row.get(0)?,
        kind: kind.ok_or(DatabaseFault::UnknownWord(1))?,
        principal: row.get(2)?,
        tool: row.get(3)?,
        owner: row.get(4)?,
        phase: phase.ok_or(DatabaseFault::UnknownWord(5))?,
        question: row.get(6)?,
        body: row.get(7)?,
        round: row.get(8)?,
        revision: row.get(9)?,
        cancelled: row.get(10)?,
        begun_at: row.get(11)?,
        changed_at: row.get(12)?,
        expires_at: row.get(13)?,
    };
    Ok((call, row.get(14)?))
}
