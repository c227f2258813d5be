//! Sessions of MCP clients that hosts with one ledger serve together: where they are kept, and how these hosts tell
//! each other about them.
//!
//! This module must not know MCP. A session is an id, a principal, and a text with which any host can continue it.

use crate::host::Host;
use crate::ledger::{
    CallLedger, LedgerError, LedgerUsers, NewRelay, RelayKind, SessionAdded, SessionReport, SessionRow, blocking,
    milliseconds,
};
use portcullis_policy::Principal;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

#[doc(inline)]
pub use crate::ledger::SessionQuota;

/// Maximum bytes of what the client of a session said at its beginning. Most say a few hundred bytes.
pub const SESSION_PARAMETERS_BYTES_MAX: usize = 64 * 1024;

/// Maximum bytes of a message to another host: a response of a person to a form.
pub const RELAYED_BYTES_MAX: usize = 32 * 1024;

/// Maximum requests of clients that use the database at one time, so that approvals always have connections left.
const REQUESTS_AT_ONCE_MAX: usize = 4;

/// Maximum time that a request of a client waits for its turn at the database.
const TURN_TIME: Duration = Duration::from_secs(10);

/// How often a host looks for messages, in case a notification is lost.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Pause after the database could not be read.
const FAULT_PAUSE: Duration = Duration::from_secs(1);

/// Maximum interval between two reports of a host. The ledger counts a report of an open request for 30 s.
pub const REPORT_INTERVAL_MAX: Duration = Duration::from_secs(10);

/// Why sessions cannot be used at the moment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedSessionError {
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Too many requests wait for the database.
    #[error("too many requests wait for the database")]
    Busy,
}

/// A session that any of the hosts can continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSession {
    /// The principal that began it. No other may use it.
    pub owner: Principal,
    /// What its client said at the beginning.
    pub parameters: String,
}

/// What came of the attempt to begin a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionBegun {
    /// It has begun. Another one may have ended for it.
    Yes,
    /// All sessions of this principal are in use.
    OwnFull,
    /// All sessions are in use.
    AllFull,
}

/// What came of the attempt to send a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSent {
    /// It is on its way.
    Yes,
    /// There is no room for it.
    Full,
}

/// How a host uses a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionActivity {
    /// A request is open. The session must not end.
    Calling,
    /// It was used since the last report.
    Used,
    /// It was not used since the last report.
    Idle,
}

/// A message of another host about a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionMessage {
    /// The key of the session ([`SharedSessions::key`]).
    pub key: String,
    /// What it says.
    pub content: SessionContent,
}

/// The content of a message of another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionContent {
    /// A client's response to a request of this host.
    Response(String),
    /// A client's cancellation of a request that this host may serve.
    Cancel(String),
    /// The session has ended. [`SharedSessions::confirm_end`] takes what is in this.
    End(SessionEnder),
    /// The host of this name has heard of the end.
    Ended(String),
}

/// The host that ended a session and waits until others have heard of it, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnder(String);

/// The sessions of the hosts with one ledger. Clones share them.
#[derive(Clone)]
pub struct SharedSessions {
    ledger: Arc<CallLedger>,
    name: Arc<str>,
    quota: SessionQuota,
    idle: i64,
    turns: Arc<Semaphore>,
}

/// The messages of other hosts to this one.
pub struct SessionMessages {
    ledger: Arc<CallLedger>,
    name: Arc<str>,
    news: watch::Receiver<u64>,
    /// The place of the last message that was read. `None` until the database was first reached.
    position: Option<i64>,
}

impl Host {
    /// Returns the sessions that this host shares with others, with these limits. A session that no host used for
    /// `idle` ends. Other hosts know this one by its name, which has no comma. No other process may have had the same
    /// name. Returns `None` if the ledger belongs to one state directory.
    pub fn shared_sessions(&self, name: &str, quota: SessionQuota, idle: Duration) -> Option<SharedSessions> {
        let ledger = Arc::clone(self.approvals().ledger());
        let turns = Arc::new(Semaphore::new(REQUESTS_AT_ONCE_MAX));
        match ledger.users() {
            LedgerUsers::OneDirectory => None,
            LedgerUsers::ManyDirectories => {
                Some(SharedSessions { ledger, name: name.into(), quota, idle: milliseconds(idle), turns })
            }
        }
    }
}

impl SharedSessions {
    /// Returns the name of a session between the hosts. It does not reveal the session's id.
    pub fn key(&self, id: &str) -> String {
        self.ledger.session_key(id)
    }

    /// Begins a session. If there are too many, ends the one that was not used for the longest time, but none of `busy`
    /// and none with an open request that a host has reported.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn begin(
        &self,
        id: &str,
        session: SharedSession,
        busy: Vec<String>,
    ) -> Result<SessionBegun, SharedSessionError> {
        let (key, quota, host) = (self.key(id), self.quota, Arc::clone(&self.name));
        let SharedSession { owner, parameters } = session;
        let row = SessionRow { owner: owner.to_string(), parameters };
        let added = self.in_turn(move |ledger| {
            ledger.change_sessions(|change| change.add_session((&key, &host), &row, quota, &busy.join(",")))
        });
        Ok(match added.await? {
            SessionAdded::Yes => SessionBegun::Yes,
            SessionAdded::OwnFull => SessionBegun::OwnFull,
            SessionAdded::AllFull => SessionBegun::AllFull,
        })
    }

    /// Returns what the client of a session said at its beginning, if one of the hosts began the session for this
    /// principal. Notes that this host serves the session from now on.
    ///
    /// # Errors
    /// The database cannot be reached, or another program changed the session.
    pub async fn continue_session(&self, id: &str, owner: &Principal) -> Result<Option<String>, SharedSessionError> {
        let (key, owner, host, idle) = (self.key(id), owner.to_string(), Arc::clone(&self.name), self.idle);
        let found = self.in_turn(move |ledger| {
            ledger.change_sessions(|change| change.continue_session((&key, &owner), &host, idle))
        });
        Ok(found.await?.map(|row| row.parameters))
    }

    /// Ends a session. Returns the names of the other hosts that have served it. Each that still runs sends
    /// [`SessionContent::Ended`] when it has heard of the end. Returns `None` if this principal has no such session.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn end(&self, id: &str, owner: &Principal) -> Result<Option<Vec<String>>, SharedSessionError> {
        let (key, owner, host) = (self.key(id), owner.to_string(), Arc::clone(&self.name));
        let ended =
            self.in_turn(move |ledger| ledger.change_sessions(|change| change.end_session(&key, &owner, &host)));
        let others = |hosts: Vec<String>| hosts.into_iter().filter(|host| **host != *self.name).collect();
        Ok(ended.await?.map(others))
    }

    /// Tells the host that ended a session that this one has heard of it.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn confirm_end(&self, key: &str, ender: &SessionEnder) -> Result<(), SharedSessionError> {
        // An empty name means that no host waits.
        if ender.0.is_empty() || ender.0 == *self.name {
            return Ok(());
        }
        let (key, from, to) = (key.to_owned(), Arc::clone(&self.name), ender.0.clone());
        self.in_turn(move |ledger| ledger.change_sessions(|change| change.confirm_end(&key, &from, &to))).await
    }

    /// Sends a client's response to the host of this name.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn respond(
        &self,
        (id, owner): (&str, &Principal),
        host: &str,
        response: String,
    ) -> Result<MessageSent, SharedSessionError> {
        self.send(RelayKind::Response, (id, owner), host, response).await
    }

    /// Sends a client's cancellation to all hosts.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn cancel(
        &self,
        (id, owner): (&str, &Principal),
        cancellation: String,
    ) -> Result<MessageSent, SharedSessionError> {
        self.send(RelayKind::Cancel, (id, owner), "", cancellation).await
    }

    /// Reports how this host uses its sessions, which are named by their keys. Returns the keys of those that have
    /// ended.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn report(&self, sessions: Vec<(String, SessionActivity)>) -> Result<Vec<String>, SharedSessionError> {
        let (ledger, idle) = (Arc::clone(&self.ledger), self.idle);
        // The report of the host does not wait for its turn behind requests of clients.
        let ended = blocking(move || {
            let known = ledger.change_sessions(|change| change.report_sessions(&report_of(&sessions), idle))?;
            let keys = sessions.into_iter().map(|(key, _)| key);
            Ok::<_, LedgerError>(keys.filter(|key| !known.contains(key)).collect())
        });
        Ok(ended.await?)
    }

    /// Returns the messages to this host, from now on. `None` if there can be no other hosts.
    pub fn messages(&self) -> Option<SessionMessages> {
        let (ledger, name) = (Arc::clone(&self.ledger), Arc::clone(&self.name));
        Some(SessionMessages { news: ledger.relay_news()?, ledger, name, position: None })
    }

    async fn send(
        &self,
        kind: RelayKind,
        (id, owner): (&str, &Principal),
        target: &str,
        body: String,
    ) -> Result<MessageSent, SharedSessionError> {
        if body.len() > RELAYED_BYTES_MAX {
            return Ok(MessageSent::Full);
        }
        let (session, owner, target) = (self.key(id), owner.to_string(), target.to_owned());
        let sent = self.in_turn(move |ledger| {
            let (session, owner, target, body) = (&*session, &*owner, &*target, &*body);
            ledger.change_sessions(|change| change.relay(&NewRelay { kind, session, owner, target, body }))
        });
        Ok(if sent.await? { MessageSent::Yes } else { MessageSent::Full })
    }

    /// Runs work of a client's request on a thread that may block.
    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CallLedger) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, SharedSessionError> {
        let turn = timeout(TURN_TIME, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.map_err(|_| SharedSessionError::Busy)?.map_err(|_| SharedSessionError::Busy)?;
        let ledger = Arc::clone(&self.ledger);
        let done = blocking(move || {
            let done = work(&ledger);
            // Kept until here, even if the request is dropped meanwhile.
            drop(turn);
            done
        });
        Ok(done.await?)
    }
}

impl SessionMessages {
    /// Waits for messages. Each is returned once. If the database cannot be reached, they arrive when it returns, if
    /// that is within a minute.
    pub async fn next(&mut self) -> Vec<SessionMessage> {
        loop {
            let is_begun = self.position.is_some();
            let (ledger, name, position) = (Arc::clone(&self.ledger), Arc::clone(&self.name), self.position);
            let read = blocking(move || {
                ledger.look(|look| match position {
                    Some(after) => look.relayed(after, &name).map(|read| (read.rows, read.position)),
                    None => look.newest_relay().map(|newest| (Vec::new(), newest)),
                })
            });
            match read.await {
                Ok((rows, position)) => {
                    self.position = Some(position);
                    if !rows.is_empty() {
                        return rows.into_iter().map(SessionMessage::from).collect();
                    }
                    // The first look has only found the position. A message may have come since.
                    if is_begun {
                        let _ = timeout(LOOK_INTERVAL, self.news.changed()).await;
                    }
                }
                Err::<_, LedgerError>(_) => tokio::time::sleep(FAULT_PAUSE).await,
            }
        }
    }
}

impl From<crate::ledger::RelayRow> for SessionMessage {
    fn from(row: crate::ledger::RelayRow) -> Self {
        let content = match row.kind {
            RelayKind::Response => SessionContent::Response(row.body),
            RelayKind::Cancel => SessionContent::Cancel(row.body),
            RelayKind::End => SessionContent::End(SessionEnder(row.body)),
            RelayKind::Ended => SessionContent::Ended(row.body),
        };
        Self { key: row.session, content }
    }
}

fn report_of(sessions: &[(String, SessionActivity)]) -> SessionReport {
    let keys = |counts: &dyn Fn(SessionActivity) -> bool| {
        let keys = sessions.iter().filter(|(_, activity)| counts(*activity)).map(|(key, _)| key.as_str());
        keys.collect::<Vec<_>>().join(",")
    };
    SessionReport {
        known: keys(&|_| true),
        used: keys(&|activity| activity != SessionActivity::Idle),
        calling: keys(&|activity| activity == SessionActivity::Calling),
    }
}

impl fmt::Debug for SharedSessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedSessions").field("quota", &self.quota).finish_non_exhaustive()
    }
}

impl fmt::Debug for SessionMessages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SessionMessages").field("name", &self.name).finish_non_exhaustive()
    }
}
