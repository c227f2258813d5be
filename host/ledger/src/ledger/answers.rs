//! Remembered approvals in the ledger.

use super::backend::{self, Row, params};
use super::database::LedgerChange;
use super::error::LedgerError;

/// The table's name in its seals.
const TABLE: &str = "answer";

/// The columns of a row, in the order in which they are read.
const MEMBERS: &str = "id, question, binding, tool, principal, session, covers, given_at, expires_at, used_at, uses, \
                       revoked_at, seal";

/// Maximum remembered approvals of one tool and one principal. Each approval request reads all of them. A user who
/// needs more should write a policy rule.
pub(crate) const ANSWERS_HELD_MAX: usize = 1000;

/// A remembered approval in its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRow {
    /// The id of the approval.
    pub id: String,
    /// The id of the request that it answered.
    pub question: String,
    /// The digest of what it is bound to.
    pub binding: String,
    /// The full name of the tool.
    pub tool: String,
    /// The principal whose calls it covers.
    pub principal: String,
    /// The session whose calls it covers. `None` for all sessions.
    pub session: Option<String>,
    /// What it covers, as JSON.
    pub covers: String,
    /// When it was given, in milliseconds since 1970.
    pub given_at: i64,
    /// When it expires, in milliseconds since 1970.
    pub expires_at: i64,
    /// When it was last used, in milliseconds since 1970.
    pub used_at: Option<i64>,
    /// How often it was used.
    pub uses: i64,
    /// When it was revoked, in milliseconds since 1970.
    pub revoked_at: Option<i64>,
}

/// Whether a remembered approval was still valid when it was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerHold {
    /// It was valid, and its use is counted.
    Yes,
    /// It was revoked or has expired in the meantime.
    No,
}

impl AnswerRow {
    /// Returns the columns that the seal covers. The usage is not covered, because it gives no right.
    fn sealed(&self) -> [String; 10] {
        [
            self.id.clone(),
            self.question.clone(),
            self.binding.clone(),
            self.tool.clone(),
            self.principal.clone(),
            // The sign distinguishes a session with an empty name from no session, which means all sessions.
            self.session.as_ref().map(|session| format!("={session}")).unwrap_or_default(),
            self.covers.clone(),
            self.given_at.to_string(),
            self.expires_at.to_string(),
            self.revoked_at.map(|at| at.to_string()).unwrap_or_default(),
        ]
    }
}

impl LedgerChange<'_> {
    /// Returns the approvals of a tool and a principal that are not revoked, newest first. Leaves out rows without a
    /// valid seal.
    pub fn held(&self, tool: &str, principal: &str) -> Result<Vec<AnswerRow>, LedgerError> {
        let select = format!(
            "SELECT {MEMBERS} FROM answer WHERE tool = ?1 AND principal = ?2 AND revoked_at IS NULL \
             ORDER BY given_at DESC, id LIMIT ?3"
        );
        let limit = i64::try_from(ANSWERS_HELD_MAX).unwrap_or(i64::MAX);
        let found = self.transaction.rows(&select, params![tool, principal, limit], read)?;
        Ok(found.into_iter().filter(|(row, seal)| self.answer_holds(row, seal)).map(|(row, _)| row).collect())
    }

    /// Returns a remembered approval by id.
    pub fn answer(&self, id: &str) -> Result<Option<AnswerRow>, LedgerError> {
        let select = format!("SELECT {MEMBERS} FROM answer WHERE id = ?1");
        match self.transaction.row(&select, params![id], read)? {
            Some((row, seal)) if self.answer_holds(&row, &seal) => Ok(Some(row)),
            Some((row, _)) => Err(LedgerError::Seal(row.id)),
            None => Ok(None),
        }
    }

    /// Returns the remembered approvals, newest first, and an error for each row without a valid seal. Includes revoked
    /// and expired ones if `all` is set.
    pub fn answers(&self, now: i64, all: bool) -> Result<(Vec<AnswerRow>, Vec<LedgerError>), LedgerError> {
        let select = format!(
            "SELECT {MEMBERS} FROM answer WHERE ?1 OR (revoked_at IS NULL AND expires_at > ?2) ORDER BY given_at DESC, id"
        );
        let (mut rows, mut faults) = (Vec::new(), Vec::new());
        for (row, seal) in self.transaction.rows(&select, params![all, now], read)? {
            if self.answer_holds(&row, &seal) {
                rows.push(row);
            } else {
                faults.push(LedgerError::Seal(row.id));
            }
        }
        Ok((rows, faults))
    }

    /// Uses an approval, unless it is revoked or expired at this moment.
    pub fn use_answer(&self, id: &str, now: i64) -> Result<AnswerHold, LedgerError> {
        let used = "UPDATE answer SET used_at = ?2, uses = uses + 1 \
                    WHERE id = ?1 AND revoked_at IS NULL AND expires_at > ?2";
        let used = self.transaction.execute(used, params![id, now])?;
        Ok(if used == 1 { AnswerHold::Yes } else { AnswerHold::No })
    }

    /// Revokes an approval.
    pub fn revoke(&self, row: AnswerRow, now: i64) -> Result<(), LedgerError> {
        self.remember(&AnswerRow { revoked_at: Some(now), ..row })
    }

    /// Writes an approval, or its new state.
    pub fn remember(&self, row: &AnswerRow) -> Result<(), LedgerError> {
        self.sealed.set(true);
        let seal = self.seal_of_answer(row);
        // Only its revocation changes an approval. If another program changed the rest, the new seal does not hold.
        let insert = format!(
            "INSERT INTO answer ({MEMBERS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
             ON CONFLICT (id) DO UPDATE SET revoked_at = ?12, seal = ?13"
        );
        let values = params![
            &row.id,
            &row.question,
            &row.binding,
            &row.tool,
            &row.principal,
            &row.session,
            &row.covers,
            row.given_at,
            row.expires_at,
            row.used_at,
            row.uses,
            row.revoked_at,
            seal.as_slice(),
        ];
        self.transaction.execute(&insert, values)?;
        Ok(())
    }

    fn seal_of_answer(&self, row: &AnswerRow) -> super::seal::Sealed {
        self.seal.of(TABLE, &row.sealed().each_ref().map(String::as_str))
    }

    fn answer_holds(&self, row: &AnswerRow, seal: &[u8]) -> bool {
        self.seal.holds(TABLE, &row.sealed().each_ref().map(String::as_str), seal)
    }
}

fn read(row: &Row<'_>) -> backend::Result<(AnswerRow, Vec<u8>)> {
    let answer = AnswerRow {
        id: row.get(0)?,
        question: row.get(1)?,
        binding: row.get(2)?,
        tool: row.get(3)?,
        principal: row.get(4)?,
        session: row.get(5)?,
        covers: row.get(6)?,
        given_at: row.get(7)?,
        expires_at: row.get(8)?,
        used_at: row.get(9)?,
        uses: row.get(10)?,
        revoked_at: row.get(11)?,
    };
    Ok((answer, row.get(12)?))
}
