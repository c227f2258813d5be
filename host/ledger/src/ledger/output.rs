//! The index of kept outputs: which exist, to whom they belong, and how much room they take. The bytes are stored
//! elsewhere.

use super::backend::{self, Row, SqlValue, params};
use super::database::LedgerChange;
use super::error::LedgerError;
use super::store::ROOT_OF_PRINCIPAL;
use std::collections::BTreeSet;

/// A kept output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputRow {
    /// The id of the output.
    pub id: String,
    /// The id of the call that it answers.
    pub call: String,
    /// The full name of the tool.
    pub tool: String,
    /// The file name, if the tool gave one.
    pub name: Option<String>,
    /// The media type.
    pub media_type: String,
    /// The size in bytes.
    pub bytes: i64,
    /// The number of lines, if it is text.
    pub lines: Option<i64>,
    /// Whether it was written to its end.
    pub complete: bool,
    /// The line breaks before each piece, encoded.
    pub marks: Vec<u8>,
    /// When it was begun, in milliseconds since 1970.
    pub kept_at: i64,
}

/// The owner of an output, and the call that it answers.
#[derive(Clone, Debug)]
pub struct OutputOrigin {
    /// The session of the call.
    pub session: String,
    /// The principal of the call.
    pub principal: String,
    /// The id of the call.
    pub call: String,
    /// The full name of the tool.
    pub tool: String,
}

/// The quota of all outputs together.
#[derive(Clone, Copy, Debug)]
pub struct OutputRoom {
    /// Maximum bytes of all outputs.
    pub bytes: i64,
    /// Maximum bytes of one session.
    pub session_bytes: i64,
    /// Maximum number of outputs.
    pub outputs: i64,
}

/// The room that outputs take, without the one that asks.
struct Taken {
    bytes: i64,
    outputs: i64,
}

const COLUMNS: &str = "id, call, tool, media_type, bytes, lines, complete, marks, kept_at, name";

impl LedgerChange<'_> {
    /// Begins an output that this process writes. Returns when it was kept.
    pub fn begin_output(&self, id: &str, origin: &OutputOrigin, owner: &str) -> Result<i64, LedgerError> {
        let now = self.now();
        let insert = "INSERT INTO output \
                      (id, session, principal, call, tool, media_type, bytes, lines, complete, marks, kept_at, owner) \
                      VALUES (?1, ?2, ?3, ?4, ?5, '', 0, NULL, false, ?8, ?6, ?7)";
        let OutputOrigin { session, principal, call, tool } = origin;
        self.apply(insert, params![id, session, principal, call, tool, now, owner, [].as_slice()])?;
        Ok(now)
    }

    /// Makes room for these bytes of an output. It deletes the oldest outputs of its session if the session has too
    /// much, then the oldest of the principal that uses the most. It deletes no output that is being written. Returns
    /// the deleted outputs, or none if there is no room; the caller then changes nothing.
    pub fn claim_output(&self, id: &str, bytes: i64, room: OutputRoom) -> Result<Option<Vec<String>>, LedgerError> {
        let mut forgotten = Vec::new();
        for (session, bytes_max) in [(true, room.session_bytes), (false, room.bytes)] {
            let mut taken = self.taken(id, session)?;
            let is_over = |taken: &Taken| {
                taken.bytes.saturating_add(bytes) > bytes_max || (!session && taken.outputs >= room.outputs)
            };
            while is_over(&taken) {
                let oldest = if session { self.oldest_of_session(id)? } else { self.oldest_of_most(id, room)? };
                let Some((oldest, freed)) = oldest else { return Ok(None) };
                self.forget_output(&oldest)?;
                forgotten.push(oldest);
                taken = Taken { bytes: taken.bytes - freed, outputs: taken.outputs - 1 };
            }
        }
        // Until the output is finished, its row has the room that it has reserved.
        self.apply("UPDATE output SET bytes = ?2 WHERE id = ?1", params![id, bytes])?;
        Ok(Some(forgotten))
    }

    /// Marks an output as finished, with its final properties.
    pub fn finish_output(&self, finished: &OutputRow) -> Result<(), LedgerError> {
        let update = "UPDATE output SET media_type = ?2, bytes = ?3, lines = ?4, complete = ?5, marks = ?6, \
                      name = ?7, owner = NULL WHERE id = ?1";
        let OutputRow { id, name, media_type, bytes, lines, complete, marks, .. } = finished;
        let (name, marks) = (name.as_deref(), marks.as_slice());
        self.apply(update, params![id, media_type, *bytes, *lines, *complete, marks, name])
    }

    /// Returns an output that a session of a principal may read.
    pub fn output(&self, session: &str, principal: &str, id: &str) -> Result<Option<OutputRow>, LedgerError> {
        let select =
            format!("SELECT {COLUMNS} FROM output WHERE id = ?3 AND session = ?1 AND principal = ?2 AND owner IS NULL");
        Ok(self.transaction.row(&select, params![session, principal, id], read)?)
    }

    /// Returns all outputs that a session of a principal may read, newest first.
    pub fn outputs(&self, session: &str, principal: &str) -> Result<Vec<OutputRow>, LedgerError> {
        let select = format!(
            "SELECT {COLUMNS} FROM output WHERE session = ?1 AND principal = ?2 AND owner IS NULL \
             ORDER BY kept_at DESC, rowid DESC"
        );
        Ok(self.transaction.rows(&select, params![session, principal], read)?)
    }

    /// Removes an output from the index.
    pub fn forget_output(&self, id: &str) -> Result<(), LedgerError> {
        self.apply("DELETE FROM output WHERE id = ?1", params![id])
    }

    /// Returns the ids of the outputs of a call.
    pub fn outputs_of_call(&self, call: &str) -> Result<Vec<String>, LedgerError> {
        Ok(self.transaction.rows("SELECT id FROM output WHERE call = ?1", params![call], |row| row.get(0))?)
    }

    /// Returns the valid outputs, and then the obsolete ones. An output is valid if a running process writes it, or if
    /// it is not too old and has one of these files, if outputs have files.
    pub fn sort_outputs(
        &self,
        files: Option<&BTreeSet<String>>,
        since: i64,
    ) -> Result<(BTreeSet<String>, Vec<String>), LedgerError> {
        let select = "SELECT id, owner, kept_at FROM output";
        let rows: Vec<(String, Option<String>, i64)> =
            self.transaction.rows(select, params![], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let (mut holding, mut dead) = (BTreeSet::new(), Vec::new());
        for (id, owner, kept_at) in rows {
            let holds = match owner {
                Some(owner) => self.is_alive(&owner)?,
                None => files.is_none_or(|files| files.contains(&id)) && kept_at >= since,
            };
            if holds {
                holding.insert(id);
            } else {
                dead.push(id);
            }
        }
        Ok((holding, dead))
    }

    fn taken(&self, id: &str, session: bool) -> Result<Taken, LedgerError> {
        // PostgreSQL sums BIGINT values to a NUMERIC, and a column is read only as a type of both databases.
        let select = format!(
            "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT), count(*) FROM output WHERE id <> ?1 AND {}",
            of(session)
        );
        let read = |row: &Row<'_>| Ok(Taken { bytes: row.get(0)?, outputs: row.get(1)? });
        Ok(self.transaction.only(&select, params![id], read)?)
    }

    /// Returns the oldest output of the session that asks.
    fn oldest_of_session(&self, id: &str) -> Result<Option<(String, i64)>, LedgerError> {
        let select = format!(
            "SELECT id, bytes FROM output WHERE id <> ?1 AND owner IS NULL AND {} ORDER BY kept_at, rowid LIMIT 1",
            of(true)
        );
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.transaction.row(&select, params![id], read)?)
    }

    /// Returns the oldest output of the principal that uses most of the room, its sub-agents included. So a principal
    /// with many outputs loses its own, not those of others.
    fn oldest_of_most(&self, id: &str, room: OutputRoom) -> Result<Option<(String, i64)>, LedgerError> {
        // Bytes and number count as shares of their limits. The casts give PostgreSQL the types of the parameters.
        let select = format!(
            "SELECT id, bytes FROM output WHERE id <> ?1 AND owner IS NULL AND {ROOT_OF_PRINCIPAL} = \
             (SELECT root FROM (SELECT {ROOT_OF_PRINCIPAL} AS root, bytes, owner, id FROM output) AS rooted \
              GROUP BY root HAVING count(*) FILTER (WHERE owner IS NULL AND id <> ?1) > 0 \
              ORDER BY sum(bytes) * 1.0 / CAST(?2 AS BIGINT) + count(*) * 1.0 / CAST(?3 AS BIGINT) DESC LIMIT 1) \
             ORDER BY kept_at, rowid LIMIT 1"
        );
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        // A limit may be zero, and PostgreSQL refuses to divide by it.
        let values = params![id, room.bytes.max(1), room.outputs.max(1)];
        Ok(self.transaction.row(&select, values, read)?)
    }

    fn apply(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<(), LedgerError> {
        self.transaction.execute(sql, values)?;
        Ok(())
    }
}

/// Returns the SQL condition for the outputs of the session and principal that ask, or for all.
fn of(session: bool) -> &'static str {
    if session { "(session, principal) = (SELECT session, principal FROM output WHERE id = ?1)" } else { "true" }
}

fn read(row: &Row<'_>) -> backend::Result<OutputRow> {
    Ok(OutputRow {
        id: row.get(0)?,
        call: row.get(1)?,
        tool: row.get(2)?,
        media_type: row.get(3)?,
        bytes: row.get(4)?,
        lines: row.get(5)?,
        complete: row.get(6)?,
        marks: row.get(7)?,
        kept_at: row.get(8)?,
        name: row.get(9)?,
    })
}
