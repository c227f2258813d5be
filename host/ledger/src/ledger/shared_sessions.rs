//! Sessions of MCP clients that several hosts serve, and what these hosts tell each other about them.
//!
//! A row of a session gives no right by itself: a client also needs its token. The row names the session's principal
//! and how it began, so that any host can continue it. These statements are only for PostgreSQL, because a ledger in a
//! file has one host.

use super::backend::{self, Row, SqlValue, params};
use super::database::{CallLedger, LedgerChange};
use super::error::LedgerError;
use portcullis_definitions::text::hex;
use tokio::sync::watch;

/// The tables' names in their seals.
const SESSIONS: &str = "client_session";
const RELAYED: &str = "relayed";

/// What the MAC of a session id is for, so that it equals no seal of a row.
const ID: &str = "client session id";

/// How long a host's report of an open request counts, in milliseconds. Hosts report more often.
const CALLS_MILLISECONDS: i64 = 30_000;

/// How long a message between hosts is kept, in milliseconds. A host that cannot reach the database for longer has lost
/// the messages to it. The clients of its calls have no answer by then.
const RELAYED_MILLISECONDS: i64 = 60_000;

/// Maximum messages of one principal that are kept. A person answers a few requests in a minute.
const RELAYED_OF_OWNER_MAX: i64 = 256;

/// Maximum messages that are kept, so that they take at most 128 MiB.
const RELAYED_MAX: i64 = 4096;

/// Maximum messages that a host reads at one time.
const READ_MAX: i64 = 256;

/// Maximum length of the names of the hosts that have served a session: 32 of 16 letters. Older ones are forgotten.
const HOSTS_BYTES_MAX: i64 = 543;

/// Notifies every host of a new message. It takes effect when the transaction commits.
const NOTIFY: &str = "SELECT CAST(pg_notify('portcullis_sessions', '') AS TEXT)";

/// How many sessions there may be.
#[derive(Clone, Copy, Debug)]
pub struct SessionQuota {
    /// Maximum sessions.
    pub sessions: i64,
    /// Maximum sessions of one principal.
    pub of_owner: i64,
}

/// What came of the attempt to add a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAdded {
    /// It was added. Another one may have ended for it.
    Yes,
    /// All sessions of this principal are in use.
    OwnFull,
    /// All sessions are in use.
    AllFull,
}

/// A session that any host can continue.
#[derive(Clone, Debug)]
pub struct SessionRow {
    /// The principal that began it.
    pub owner: String,
    /// What its client said at the beginning.
    pub parameters: String,
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayKind {
    /// A client's response to a request of the target.
    Response,
    /// A client's cancellation of a request that another host serves.
    Cancel,
    /// The session has ended. A host that is named wants to know when others have heard of it.
    End,
    /// A host has heard of the end.
    Ended,
}

impl RelayKind {
    const ALL: [Self; 4] = [Self::Response, Self::Cancel, Self::End, Self::Ended];

    fn as_str(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Cancel => "cancel",
            Self::End => "end",
            Self::Ended => "ended",
        }
    }
}

/// A message to other hosts.
#[derive(Clone, Copy, Debug)]
pub struct NewRelay<'r> {
    /// Its kind.
    pub kind: RelayKind,
    /// The session.
    pub session: &'r str,
    /// The session's principal.
    pub owner: &'r str,
    /// The host that it is for. If empty, it is for all.
    pub target: &'r str,
    /// The content.
    pub body: &'r str,
}

/// A message of another host.
#[derive(Clone, Debug)]
pub struct RelayRow {
    /// Its kind.
    pub kind: RelayKind,
    /// The session.
    pub session: String,
    /// The content.
    pub body: String,
}

/// The messages that a host has read.
#[derive(Clone, Debug)]
pub struct RelayedRows {
    /// Those that a host with the ledger's key wrote.
    pub rows: Vec<RelayRow>,
    /// The place of the last one that was read.
    pub position: i64,
}

/// The columns of a message that its seal covers, as they are in the row.
struct StoredRelay {
    position: i64,
    kind: String,
    session: String,
    owner: String,
    target: String,
    body: String,
    expires_at: i64,
    seal: Vec<u8>,
}

/// What a host says of its sessions. Each member is ids, joined by commas.
#[derive(Clone, Debug, Default)]
pub struct SessionReport {
    /// All sessions that the host knows.
    pub known: String,
    /// Those that were used since the last report, or have something open.
    pub used: String,
    /// Those with an open request.
    pub calling: String,
}

impl CallLedger {
    /// Returns the id of a session's row. Only hosts with the ledger's key can compute it.
    pub fn session_key(&self, id: &str) -> String {
        hex(&self.seal.of(ID, &[id]))
    }

    /// Runs a transaction on sessions and messages. It waits for other ones like it, and not for changes of the rest of
    /// the ledger.
    ///
    /// # Errors
    /// `work` fails, or the database cannot be reached. Nothing is changed then, unless the connection was lost during
    /// the commit.
    pub fn change_sessions<T>(
        &self,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.within(work, |work| self.database.change_apart(work))
    }

    /// Returns a number that changes when another host may have sent a message. `None` if no other host can.
    pub fn relay_news(&self) -> Option<watch::Receiver<u64>> {
        self.database.relay_news()
    }
}

impl LedgerChange<'_> {
    /// Adds a session that begins on a host. If there are too many, ends the one that was not used for longest: one of
    /// the owner's, or of the principal with the most. It ends none with an open request, as far as hosts have
    /// reported it, and none in `busy`.
    pub fn add_session(
        &self,
        (key, host): (&str, &str),
        session: &SessionRow,
        quota: SessionQuota,
        busy: &str,
    ) -> Result<SessionAdded, LedgerError> {
        let SessionRow { owner, parameters } = session;
        while self.count_rows("SELECT count(*) FROM client_session WHERE owner = ?1", params![owner])? >= quota.of_owner
        {
            if !self.evict(owner, busy)? {
                return Ok(SessionAdded::OwnFull);
            }
        }
        while self.count_rows("SELECT count(*) FROM client_session", params![])? >= quota.sessions {
            let most = "SELECT owner FROM client_session GROUP BY owner ORDER BY count(*) DESC, owner LIMIT 1";
            let most: Option<String> = self.transaction.row(most, params![], |row| row.get(0))?;
            match most {
                Some(most) if self.evict(&most, busy)? => {}
                Some(_) | None => return Ok(SessionAdded::AllFull),
            }
        }
        let now = self.now();
        let seal = self.seal.of(SESSIONS, &[key, owner, parameters, &now.to_string()]);
        let insert = "INSERT INTO client_session (id, owner, parameters, hosts, begun_at, used_at, calls_until, seal) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?5, 0, ?6)";
        self.transaction.execute(insert, params![key, owner, parameters, host, now, seal.as_slice()])?;
        Ok(SessionAdded::Yes)
    }

    /// Returns a session of a principal that was used within this time, in milliseconds. Notes that a host serves it.
    pub fn continue_session(
        &self,
        (key, owner): (&str, &str),
        host: &str,
        idle: i64,
    ) -> Result<Option<SessionRow>, LedgerError> {
        let select =
            "SELECT parameters, begun_at, seal FROM client_session WHERE id = ?1 AND owner = ?2 AND used_at > ?3";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let found: Option<(String, i64, Vec<u8>)> =
            self.transaction.row(select, params![key, owner, self.now().saturating_sub(idle)], read)?;
        let Some((parameters, begun_at, seal)) = found else { return Ok(None) };
        if !self.seal.holds(SESSIONS, &[key, owner, &parameters, &begun_at.to_string()], &seal) {
            return Err(LedgerError::Seal(key.to_owned()));
        }
        let note = "UPDATE client_session SET hosts = right(hosts || ',' || ?2, CAST(?3 AS INTEGER)) \
                    WHERE id = ?1 AND strpos(hosts, ?2) = 0";
        self.transaction.execute(note, params![key, host, HOSTS_BYTES_MAX])?;
        Ok(Some(SessionRow { owner: owner.to_owned(), parameters }))
    }

    /// Ends a session of a principal, and tells all hosts. Those that hear of it confirm it to `host`, if it is not
    /// empty. Returns the hosts that have served the session. `None` if the principal has no such session.
    pub fn end_session(&self, key: &str, owner: &str, host: &str) -> Result<Option<Vec<String>>, LedgerError> {
        let delete = "DELETE FROM client_session WHERE id = ?1 AND owner = ?2 RETURNING hosts";
        let hosts: Option<String> = self.transaction.row(delete, params![key, owner], |row| row.get(0))?;
        let Some(hosts) = hosts else { return Ok(None) };
        self.forget_expired()?;
        // Without room for the message, hosts notice at their next report.
        if self.has_room()? {
            self.insert_relay(&NewRelay { kind: RelayKind::End, session: key, owner, target: "", body: host })?;
            return Ok(Some(hosts.split(',').map(str::to_owned).collect()));
        }
        Ok(Some(Vec::new()))
    }

    /// Tells the host that ended a session that another one has heard of it.
    pub fn confirm_end(&self, key: &str, from: &str, to: &str) -> Result<(), LedgerError> {
        self.forget_expired()?;
        if self.has_room()? {
            self.insert_relay(&NewRelay { kind: RelayKind::Ended, session: key, owner: "", target: to, body: from })?;
        }
        Ok(())
    }

    /// Records what a host says of its sessions, and deletes sessions that no host used within this time, in
    /// milliseconds. Returns the known sessions that still exist.
    pub fn report_sessions(&self, report: &SessionReport, idle: i64) -> Result<Vec<String>, LedgerError> {
        let now = self.now();
        let used = "UPDATE client_session SET used_at = ?2 WHERE id = ANY(string_to_array(?1, ','))";
        self.transaction.execute(used, params![&report.used, now])?;
        let calling = "UPDATE client_session SET calls_until = ?2 WHERE id = ANY(string_to_array(?1, ','))";
        self.transaction.execute(calling, params![&report.calling, now.saturating_add(CALLS_MILLISECONDS)])?;
        let expired = "DELETE FROM client_session WHERE used_at <= ?1 AND calls_until <= ?2";
        self.transaction.execute(expired, params![now.saturating_sub(idle), now])?;
        self.forget_expired()?;
        let known = "SELECT id FROM client_session WHERE id = ANY(string_to_array(?1, ','))";
        Ok(self.transaction.rows(known, params![&report.known], |row| row.get(0))?)
    }

    /// Adds a message to other hosts. Returns false if there is no room for it.
    pub fn relay(&self, message: &NewRelay<'_>) -> Result<bool, LedgerError> {
        self.forget_expired()?;
        let of_owner = self.count_rows("SELECT count(*) FROM relayed WHERE owner = ?1", params![message.owner])?;
        if of_owner >= RELAYED_OF_OWNER_MAX || !self.has_room()? {
            return Ok(false);
        }
        self.insert_relay(message)?;
        Ok(true)
    }

    /// Returns the place of the newest message.
    pub fn newest_relay(&self) -> Result<i64, LedgerError> {
        Ok(self.count_rows("SELECT coalesce(max(position), 0) FROM relayed", params![])?)
    }

    /// Returns the oldest messages after a place that are for a host or for all. It leaves out those without a valid
    /// seal, because no host wrote them.
    pub fn relayed(&self, after: i64, target: &str) -> Result<RelayedRows, LedgerError> {
        let select = "SELECT position, kind, session, owner, target, body, expires_at, seal FROM relayed \
                      WHERE position > ?1 AND (target = ?2 OR target = '') AND expires_at > ?3 \
                      ORDER BY position LIMIT ?4";
        let rows = self.transaction.rows(select, params![after, target, self.now(), READ_MAX], StoredRelay::read)?;
        // The place also passes messages without a valid seal, so that they are not read again.
        let position = rows.last().map_or(after, |row| row.position);
        Ok(RelayedRows { rows: rows.into_iter().filter_map(|row| row.checked(self)).collect(), position })
    }

    /// Ends the session of a principal that was not used for the longest time. Returns false if all are in use.
    fn evict(&self, owner: &str, busy: &str) -> Result<bool, LedgerError> {
        let select = "SELECT id FROM client_session WHERE owner = ?1 AND calls_until <= ?2 \
                      AND NOT (id = ANY(string_to_array(?3, ','))) ORDER BY used_at, id LIMIT 1";
        let idlest: Option<String> =
            self.transaction.row(select, params![owner, self.now(), busy], |row| row.get(0))?;
        match idlest {
            Some(idlest) => Ok(self.end_session(&idlest, owner, "")?.is_some()),
            None => Ok(false),
        }
    }

    fn insert_relay(&self, message: &NewRelay<'_>) -> Result<(), LedgerError> {
        let NewRelay { kind, session, owner, target, body } = *message;
        let (kind, expires_at) = (kind.as_str(), self.now().saturating_add(RELAYED_MILLISECONDS));
        let seal = self.seal.of(RELAYED, &[kind, session, owner, target, body, &expires_at.to_string()]);
        let insert = "INSERT INTO relayed (kind, session, owner, target, body, expires_at, seal) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let values = params![kind, session, owner, target, body, expires_at, seal.as_slice()];
        self.transaction.execute(insert, values)?;
        Ok(self.transaction.query(NOTIFY, params![], &mut |_| Ok(()))?)
    }

    fn has_room(&self) -> Result<bool, LedgerError> {
        Ok(self.count_rows("SELECT count(*) FROM relayed", params![])? < RELAYED_MAX)
    }

    fn forget_expired(&self) -> Result<(), LedgerError> {
        self.transaction.execute("DELETE FROM relayed WHERE expires_at <= ?1", params![self.now()])?;
        Ok(())
    }

    fn count_rows(&self, select: &str, values: &[SqlValue<'_>]) -> backend::Result<i64> {
        self.transaction.only(select, values, |row| row.get(0))
    }
}

impl StoredRelay {
    fn read(row: &Row<'_>) -> backend::Result<Self> {
        Ok(Self {
            position: row.get(0)?,
            kind: row.get(1)?,
            session: row.get(2)?,
            owner: row.get(3)?,
            target: row.get(4)?,
            body: row.get(5)?,
            expires_at: row.get(6)?,
            seal: row.get(7)?,
        })
    }

    /// Returns the message, if a host with the ledger's key wrote the row.
    fn checked(self, change: &LedgerChange<'_>) -> Option<RelayRow> {
        let Self { position: _, kind, session, owner, target, body, expires_at, seal } = self;
        let expires_at = expires_at.to_string();
        let members = [&kind, &session, &owner, &target, &body, &expires_at].map(String::as_str);
        if !change.seal.holds(RELAYED, &members, &seal) {
            return None;
        }
        let kind = RelayKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
        Some(RelayRow { kind, session, body })
    }
}
