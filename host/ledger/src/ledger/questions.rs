//! Approval requests in the ledger. They are written before an approver is asked, and change their status one step at a
//! time.

use super::backend::{self, DatabaseFault, Row, SqlValue, params};
use super::database::LedgerChange;
use super::error::LedgerError;
use super::status::{Status, StatusStep};
use super::store::{ROOT_OF_PRINCIPAL, root_of_principal};

/// The table's name in its seals.
const TABLE: &str = "question";

/// The columns of a row, in the order in which they are read.
const MEMBERS: &str = "id, call, subject, status, session, principal, tool, binding, body, asked_at, expires_at, \
                       settled_at, owner, note, seal";

/// The SQL condition for open requests, as in [`Status::is_open`].
const OPEN: &str = "status IN ('pending', 'approved', 'running')";

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuestionSubject {
    /// Whether a call may run.
    Call,
    /// Whether a repeated call may run.
    Repeat,
    /// Whether a running call may use a resource.
    Resource,
}

impl QuestionSubject {
    const ALL: [Self; 3] = [Self::Call, Self::Repeat, Self::Resource];

    /// Returns the word in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Repeat => "repeat",
            Self::Resource => "resource",
        }
    }
}

/// A request in its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionRow {
    /// The id of the request.
    pub id: String,
    /// The id of the call that waits.
    pub call: String,
    /// What the request is about.
    pub subject: QuestionSubject,
    /// The current status.
    pub status: Status,
    /// The session of the call.
    pub session: String,
    /// The principal of the call.
    pub principal: String,
    /// The full name of the tool.
    pub tool: String,
    /// The digest of what an approval is bound to.
    pub binding: String,
    /// What the approver is shown. `None` once the request is settled.
    pub body: Option<String>,
    /// When the request was made, in milliseconds since 1970.
    pub asked_at: i64,
    /// When the request expires, in milliseconds since 1970.
    pub expires_at: i64,
    /// When the request was settled, in milliseconds since 1970.
    pub settled_at: Option<i64>,
    /// The process that waits. Empty if none does.
    pub owner: String,
    /// Why it was settled, for people.
    pub note: Option<String>,
}

/// The number of open requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCount {
    /// All open requests.
    pub all: usize,
    /// The requests of one principal, its sub-agents included.
    pub of_principal: usize,
    /// The requests of one session of one principal.
    pub of_session: usize,
}

/// Why a step was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The request does not exist.
    Unknown,
    /// The step does not apply to the request's status.
    Settled(Status),
}

impl QuestionRow {
    /// Returns the columns that the seal covers, as text.
    fn sealed(&self) -> [String; 14] {
        let (settled_at, body) = (self.settled_at.unwrap_or_default(), self.body.clone().unwrap_or_default());
        [
            self.id.clone(),
            self.call.clone(),
            self.subject.as_str().to_owned(),
            self.status.as_str().to_owned(),
            self.session.clone(),
            self.principal.clone(),
            self.tool.clone(),
            self.binding.clone(),
            body,
            self.asked_at.to_string(),
            self.expires_at.to_string(),
            settled_at.to_string(),
            self.owner.clone(),
            self.note.clone().unwrap_or_default(),
        ]
    }
}

impl LedgerChange<'_> {
    /// Writes a new request.
    pub fn ask(&self, row: &QuestionRow) -> Result<(), LedgerError> {
        self.write(row)
    }

    /// Counts the open requests in all, of a principal and of a session.
    pub fn open_questions_count(&self, session: &str, principal: &str) -> Result<OpenCount, LedgerError> {
        let count = format!(
            "SELECT count(*), count(*) FILTER (WHERE {ROOT_OF_PRINCIPAL} = ?3), \
             count(*) FILTER (WHERE session = ?1 AND principal = ?2) FROM question WHERE {OPEN}"
        );
        let read = |row: &Row<'_>| {
            let [all, of_principal, of_session]: [i64; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            let number = |count| usize::try_from(count).unwrap_or(usize::MAX);
            Ok(OpenCount { all: number(all), of_principal: number(of_principal), of_session: number(of_session) })
        };
        Ok(self.transaction.only(&count, params![session, principal, root_of_principal(principal)], read)?)
    }

    /// Returns a request by id.
    pub fn question(&self, id: &str) -> Result<Option<QuestionRow>, LedgerError> {
        let select = format!("SELECT {MEMBERS} FROM question WHERE id = ?1");
        let found = self.transaction.row(&select, params![id], read)?;
        found.map(|(row, seal)| self.checked(row, &seal)).transpose()
    }

    /// Returns the open requests, oldest first, and then at most `settled` of the others, newest first. Leaves out rows
    /// without a valid seal, and returns an error for each.
    pub fn questions(&self, settled: usize) -> Result<(Vec<QuestionRow>, Vec<LedgerError>), LedgerError> {
        let limit = i64::try_from(settled).unwrap_or(i64::MAX);
        let (mut rows, mut faults) = self.select(&format!("{OPEN} ORDER BY asked_at, id"), params![])?;
        let (closed, more) =
            self.select(&format!("NOT {OPEN} ORDER BY settled_at DESC, id LIMIT ?1"), params![limit])?;
        rows.extend(closed);
        faults.extend(more);
        Ok((rows, faults))
    }

    /// Returns whether a call has not begun and can still be approved.
    pub fn is_call_open(&self, call: &str) -> Result<bool, LedgerError> {
        let select = "SELECT 1 FROM question \
                      WHERE status IN ('pending', 'approved') AND subject IN ('call', 'repeat') AND call = ?1";
        Ok(self.transaction.exists(select, params![call])?)
    }

    /// Returns the open requests with one of these bindings, oldest first. Leaves out rows without a valid seal.
    pub fn open_questions_bound_to(&self, bindings: [&str; 2]) -> Result<Vec<QuestionRow>, LedgerError> {
        Ok(self
            .select(
                &format!("{OPEN} AND binding IN (?1, ?2) ORDER BY asked_at, id"),
                params![bindings[0], bindings[1]],
            )?
            .0)
    }

    /// Returns the ids of the requests whose calls have not begun, oldest first. Their seals are not checked.
    pub fn waiting_call_ids(&self) -> Result<Vec<String>, LedgerError> {
        let select = "SELECT id FROM question WHERE status IN ('pending', 'approved') \
                      AND subject IN ('call', 'repeat') ORDER BY asked_at, id";
        Ok(self.transaction.rows(select, params![], |row| row.get(0))?)
    }

    /// Returns the open requests that may have expired or belong to a dead process. Requests that only wait are not
    /// read.
    pub fn perhaps_stale(&self, now: i64) -> Result<Vec<QuestionRow>, LedgerError> {
        let of = format!("{OPEN} AND (status = 'running' OR subject = 'resource' OR expires_at <= ?1)");
        Ok(self.select(&of, params![now])?.0)
    }

    /// Returns the matching rows that have a valid seal, and an error for each of the rest.
    fn select(&self, of: &str, values: &[SqlValue<'_>]) -> Result<(Vec<QuestionRow>, Vec<LedgerError>), LedgerError> {
        let select = format!("SELECT {MEMBERS} FROM question WHERE {of}");
        let (mut rows, mut faults) = (Vec::new(), Vec::new());
        for (row, seal) in self.transaction.rows(&select, values, read)? {
            match self.checked(row, &seal) {
                Ok(row) => rows.push(row),
                Err(fault) => faults.push(fault),
            }
        }
        Ok((rows, faults))
    }

    /// Takes a step if it applies to the request's current status. Removes the body of a request that it settles.
    pub fn step(
        &self,
        id: &str,
        step: StatusStep,
        note: Option<&str>,
    ) -> Result<Result<QuestionRow, Conflict>, LedgerError> {
        let Some(mut row) = self.question(id)? else { return Ok(Err(Conflict::Unknown)) };
        let Some(status) = row.status.after(step) else { return Ok(Err(Conflict::Settled(row.status))) };
        row.status = status;
        row.note = note.map(str::to_owned).or(row.note);
        if !status.is_open() {
            row.settled_at = Some(self.now());
            // The body has the arguments of the call. They may be private, and no later step needs them.
            row.body = None;
        }
        self.write(&row)?;
        Ok(Ok(row))
    }

    /// Withdraws every request whose call has not begun. Returns their number.
    pub(super) fn withdraw_all(&self, note: &str) -> Result<usize, LedgerError> {
        let (rows, _) = self.select("status IN ('pending', 'approved')", params![])?;
        for row in &rows {
            // The status cannot have changed since the selection, because both are in one transaction.
            let _ = self.step(&row.id, StatusStep::Withdraw, Some(note))?;
        }
        Ok(rows.len())
    }

    /// Hands a request over to another process, or to none.
    pub fn hand_over(&self, row: &QuestionRow, owner: &str) -> Result<QuestionRow, LedgerError> {
        let row = QuestionRow { owner: owner.to_owned(), ..row.clone() };
        self.write(&row)?;
        Ok(row)
    }

    /// Returns whether the process that waits for a request still runs.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn is_waited_for(&self, row: &QuestionRow) -> Result<bool, LedgerError> {
        self.is_alive(&row.owner)
    }

    /// Deletes settled requests, except the newest `kept`.
    pub fn prune(&self, kept: usize) -> Result<(), LedgerError> {
        let delete = format!(
            "DELETE FROM question WHERE NOT {OPEN} AND id NOT IN \
             (SELECT id FROM question WHERE NOT {OPEN} ORDER BY settled_at DESC, id LIMIT ?1)"
        );
        self.transaction.execute(&delete, params![i64::try_from(kept).unwrap_or(i64::MAX)])?;
        Ok(())
    }

    fn write(&self, row: &QuestionRow) -> Result<(), LedgerError> {
        self.sealed.set(true);
        let sealed = row.sealed();
        let seal = self.seal.of(TABLE, &sealed.each_ref().map(String::as_str));
        // The other columns never change. If another program changed one, the new seal does not hold.
        let replace = format!(
            "INSERT INTO question ({MEMBERS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, \
             ?15) ON CONFLICT (id) DO UPDATE SET status = ?4, body = ?9, settled_at = ?12, owner = ?13, note = ?14, \
             seal = ?15"
        );
        let values = params![
            &row.id,
            &row.call,
            row.subject.as_str(),
            row.status.as_str(),
            &row.session,
            &row.principal,
            &row.tool,
            &row.binding,
            &row.body,
            row.asked_at,
            row.expires_at,
            row.settled_at,
            &row.owner,
            &row.note,
            seal.as_slice(),
        ];
        self.transaction.execute(&replace, values)?;
        Ok(())
    }

    fn checked(&self, row: QuestionRow, seal: &[u8]) -> Result<QuestionRow, LedgerError> {
        let sealed = row.sealed();
        let holds = self.seal.holds(TABLE, &sealed.each_ref().map(String::as_str), seal);
        if holds { Ok(row) } else { Err(LedgerError::Seal(row.id)) }
    }
}

fn read(row: &Row<'_>) -> backend::Result<(QuestionRow, Vec<u8>)> {
    let word = |index| row.get::<String>(index);
    let (subject, status) = (word(2)?, word(3)?);
    let subject = QuestionSubject::ALL
        .into_iter()
        .find(|known| known.as_str() == subject)
        .ok_or(DatabaseFault::UnknownWord(2))?;
    let question = QuestionRow {
        id: row.get(0)?,
        call: row.get(1)?,
        subject,
        status: Status::of(&status).ok_or(DatabaseFault::UnknownWord(3))?,
        session: row.get(4)?,
        principal: row.get(5)?,
        tool: row.get(6)?,
        binding: row.get(7)?,
        body: row.get(8)?,
        asked_at: row.get(9)?,
        expires_at: row.get(10)?,
        settled_at: row.get(11)?,
        owner: row.get(12)?,
        note: row.get(13)?,
    };
    Ok((question, row.get(14)?))
}
