//! The hosts that serve the same sessions as this one, because their ledger is in one database.
//!
//! A session that one host began, each other one continues with an instance of its own. The database has the sessions.
//! It also takes what reached the wrong host to the right one: a client's response and its cancellations.

use super::error::HttpError;
use super::instance_tag::HostName;
use super::options::HttpLimits;
use super::session_instances::{SessionInstances, StreamPlace};
use super::sessions::{Full, SessionUse, Sessions, Using};
use super::shared_meaning::{self, SharedMeaning};
use crate::identity::TransportIdentity;
use crate::judge::{Judged, judge};
use crate::server::Server;
use portcullis::Host;
use portcullis::approvals::LedgerError;
use portcullis::policy::Principal;
use portcullis::policy::recovery::RecoverMutex;
use portcullis::shared_sessions::{
    MessageSent, REPORT_INTERVAL_MAX, SESSION_PARAMETERS_BYTES_MAX, SessionBegun, SessionContent, SessionMessage,
    SessionMessages, SessionQuota, SharedSession, SharedSessionError, SharedSessions,
};
use portcullis::text::{OneLine, WithCauses};
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum time to hand a message of another host to its session. A client that reads nothing makes its session wait.
const HAND_OVER_TIME: Duration = Duration::from_secs(30);

/// Maximum time that the end of a session waits until other hosts have heard of it. One that has died never confirms.
const END_TIME: Duration = Duration::from_secs(3);

/// Capacity of a queue of confirmations: more than hosts are known to have served one session.
const CONFIRMATIONS_MAX: usize = 64;

/// How many sessions that have ended a host remembers, in case it is about to continue one of them.
const ENDED_REMEMBERED_MAX: usize = 1024;

/// The sessions that this host shares with others.
pub(crate) struct Replicas {
    shared: SharedSessions,
    sessions: Arc<Sessions>,
    instances: Arc<SessionInstances>,
    server: Server,
    over: CancellationToken,
    /// The locks of sessions that are being continued here, so that each gets one instance.
    continuing: Mutex<HashMap<SessionId, Weak<tokio::sync::Mutex<()>>>>,
    /// Where the confirmations of ended sessions go, by the keys of the sessions.
    ending: Mutex<HashMap<String, mpsc::Sender<String>>>,
    /// The keys of the last sessions that have ended.
    ended: Mutex<VecDeque<String>>,
}

/// Why a request of a session cannot be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unserved {
    /// The principal has no such session.
    Unknown,
    /// There is no room for it.
    Full(Full),
    /// The database cannot be reached.
    Unreachable,
    /// The message is too large to be kept for another host.
    TooLarge,
    /// There is no room for messages to other hosts.
    Crowded,
}

/// What became of a message that other hosts may have to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relayed {
    /// It is on its way to another host, and not for this one.
    Away,
    /// This host serves it.
    Here,
}

/// The end of a session that waits for confirmations. Dropping it forgets where they go.
struct AwaitedEnd<'r> {
    replicas: &'r Replicas,
    key: &'r str,
}

impl Drop for AwaitedEnd<'_> {
    fn drop(&mut self) {
        self.replicas.ending.lock_recovered().remove(self.key);
    }
}

impl Replicas {
    /// Returns the sessions that a host shares with others, and this host's name among them. `None` if it shares none.
    ///
    /// # Errors
    /// The system's random number generator fails.
    pub(crate) fn shared(host: &Host, limits: HttpLimits) -> Result<Option<(HostName, SharedSessions)>, HttpError> {
        let number = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
        let quota = SessionQuota { sessions: number(limits.sessions), of_owner: number(limits.sessions_per_principal) };
        let name = HostName::random().map_err(|_| HttpError::NoRandomness)?;
        let shared = host.shared_sessions(name.as_str(), quota, limits.session_idle_time);
        Ok(shared.map(|shared| (name, shared)))
    }

    /// Begins to listen to the other hosts, and to report to them, until `over`.
    pub(crate) fn begin(
        shared: SharedSessions,
        (sessions, instances): (&Arc<Sessions>, &Arc<SessionInstances>),
        server: &Server,
        over: &CancellationToken,
        idle: Duration,
    ) -> Arc<Self> {
        let messages = shared.messages();
        let (sessions, instances) = (Arc::clone(sessions), Arc::clone(instances));
        let (server, over) = (server.clone(), over.clone());
        let (continuing, ending, ended) = (Mutex::default(), Mutex::default(), Mutex::default());
        let replicas = Arc::new(Self { shared, sessions, instances, server, over, continuing, ending, ended });
        tokio::spawn(Arc::clone(&replicas).report((idle / 4).min(REPORT_INTERVAL_MAX)));
        if let Some(messages) = messages {
            tokio::spawn(Arc::clone(&replicas).follow(messages));
        }
        replicas
    }

    /// Adds a session that begins here to those that all hosts can continue.
    ///
    /// # Errors
    /// There is no room for it, or the database cannot be reached.
    pub(crate) async fn add(&self, id: &str, owner: &Principal, parameters: String) -> Result<(), Unserved> {
        // The last report of this host may be older than these requests. The database must not evict their sessions.
        let busy = self.sessions.calling().iter().map(|id| self.shared.key(id)).collect();
        let session = SharedSession { owner: owner.clone(), parameters };
        match self.shared.begin(id, session, busy).await {
            Ok(SessionBegun::Yes) => Ok(()),
            Ok(SessionBegun::OwnFull) => Err(Unserved::Full(Full::Own)),
            Ok(SessionBegun::AllFull) => Err(Unserved::Full(Full::All)),
            Err(error) => Err(unserved(&error)),
        }
    }

    /// Marks a session as in use, if it belongs to this principal. Continues it here if another host began it.
    ///
    /// # Errors
    /// The principal has no such session, there is no room for it here, or the database cannot be reached.
    pub(crate) async fn open(
        self: &Arc<Self>,
        id: &str,
        principal: &Principal,
        what: SessionUse,
    ) -> Result<Using, Unserved> {
        // Twice, because the instance can make room for another one before it is marked as in use.
        for _ in 0..2 {
            if !self.is_here(id, principal).await {
                let (replicas, id, principal) = (Arc::clone(self), SessionId::from(id), principal.clone());
                let alone = self.lock_of(&id).lock_owned().await;
                // A task of its own, because a client that disconnects must not leave half an instance.
                let continued = tokio::spawn(async move {
                    let continued = replicas.continue_here(&id, &principal).await;
                    drop(alone);
                    continued
                });
                continued.await.unwrap_or(Err(Unserved::Unreachable))?;
            }
            if let Some(using) = self.sessions.open(id, principal, what) {
                return Ok(using);
            }
        }
        Err(Unserved::Unknown)
    }

    /// Ends a session on all hosts, if it belongs to this principal. Waits until those that have served it confirm.
    ///
    /// # Errors
    /// The principal has no such session, or the database cannot be reached.
    pub(crate) async fn end(&self, id: &str, principal: &Principal) -> Result<(), Unserved> {
        let key = self.shared.key(id);
        let (sender, confirmations) = mpsc::channel(CONFIRMATIONS_MAX);
        // Before the other hosts hear of the end, so that no confirmation is missed.
        self.ending.lock_recovered().insert(key.clone(), sender);
        let _awaited = AwaitedEnd { replicas: self, key: &key };
        let ended = self.shared.end(id, principal).await;
        // If the database cannot be reached, the session remains.
        if ended.is_ok() && self.sessions.has(id, principal) {
            self.remember_end(&key);
            self.sessions.close(&SessionId::from(id)).await;
        }
        if let Ok(Some(others)) = &ended {
            // A host that did not hear of the end closes its instance after its next report.
            let _ = timeout(END_TIME, confirmed(others, confirmations)).await;
        }
        match ended {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Unserved::Unknown),
            Err(error) => Err(unserved(&error)),
        }
    }

    /// Returns whether a session of this principal is here.
    pub(crate) fn has(&self, id: &str, principal: &Principal) -> bool {
        self.sessions.has(id, principal)
    }

    /// Sends a message to the host that it is for.
    ///
    /// # Errors
    /// It is too large, there is no room for it, or the database cannot be reached.
    pub(crate) async fn relay(
        &self,
        session: (&str, &Principal),
        meaning: &SharedMeaning,
    ) -> Result<Relayed, Unserved> {
        let (relayed, sent) = match meaning {
            SharedMeaning::Begin(_) => return Ok(Relayed::Here),
            SharedMeaning::Response(request, message) => match self.instances.other_host(request) {
                Some(host) => {
                    let text = shared_meaning::text(message).ok_or(Unserved::TooLarge)?;
                    (Relayed::Away, self.shared.respond(session, host.as_str(), text).await)
                }
                None => return Ok(Relayed::Here),
            },
            SharedMeaning::Cancel(request, _) if self.instances.has_request(session.0, request) => {
                return Ok(Relayed::Here);
            }
            SharedMeaning::Cancel(_, message) => {
                let text = shared_meaning::text(message).ok_or(Unserved::TooLarge)?;
                (Relayed::Here, self.shared.cancel(session, text).await)
            }
        };
        match sent {
            Ok(MessageSent::Yes) => Ok(relayed),
            Ok(MessageSent::Full) => Err(Unserved::Crowded),
            Err(error) => Err(unserved(&error)),
        }
    }

    /// Returns where the stream with this event is.
    pub(crate) fn stream_place(&self, id: &str, event: &str) -> StreamPlace {
        self.instances.stream_place(id, event)
    }

    async fn is_here(&self, id: &str, principal: &Principal) -> bool {
        self.sessions.has(id, principal) && self.instances.has_session(&SessionId::from(id)).await.unwrap_or(false)
    }

    async fn continue_here(&self, id: &SessionId, principal: &Principal) -> Result<(), Unserved> {
        if self.is_here(id, principal).await {
            return Ok(());
        }
        let found = self.shared.continue_session(id, principal).await.map_err(|error| unserved(&error))?;
        let parameters = serde_json::from_str(&found.ok_or(Unserved::Unknown)?).map_err(|_| Unserved::Unknown)?;
        // An instance here may have ended, and still has its place.
        self.sessions.forget(id);
        let place = self.sessions.begin(principal).await.map_err(Unserved::Full)?;
        let (server, over) = (self.server.clone(), self.over.child_token());
        let identity = TransportIdentity { principal: principal.clone() };
        if let Err(error) = self.instances.restore((id, identity), parameters, server, over).await {
            tracing::warn!(
                target: "portcullis::server",
                event = "session",
                "a session of another host could not be continued: {}",
                OneLine(&WithCauses(&error).to_string())
            );
            self.sessions.close(id).await;
            return Err(Unserved::Unknown);
        }
        place.began(id);
        // It may have ended after it was read, and before the end could find it here.
        if self.ended.lock_recovered().contains(&self.shared.key(id)) {
            self.sessions.close(id).await;
            return Err(Unserved::Unknown);
        }
        Ok(())
    }

    fn remember_end(&self, key: &str) {
        let mut ended = self.ended.lock_recovered();
        if ended.len() >= ENDED_REMEMBERED_MAX {
            ended.pop_front();
        }
        ended.push_back(key.to_owned());
    }

    fn lock_of(&self, id: &SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut continuing = self.continuing.lock_recovered();
        if let Some(lock) = continuing.get(id).and_then(Weak::upgrade) {
            return lock;
        }
        continuing.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::default();
        continuing.insert(id.clone(), Arc::downgrade(&lock));
        lock
    }

    /// Reports periodically which sessions are used here, and closes those that have ended.
    async fn report(self: Arc<Self>, pause: Duration) {
        let mut since = Instant::now();
        while self.over.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
            let now = Instant::now();
            let mut ids = HashMap::new();
            let activities = self.sessions.activities(since).into_iter().map(|(id, activity)| {
                let key = self.shared.key(&id);
                ids.insert(key.clone(), id);
                (key, activity)
            });
            // Without the database, nothing is known to have ended. The next report says what this one would have.
            let Ok(ended) = self.shared.report(activities.collect()).await else { continue };
            since = now;
            for id in ended.iter().filter_map(|key| ids.get(key)) {
                self.sessions.close(id).await;
            }
        }
    }

    /// Hands the messages of other hosts to their sessions.
    async fn follow(self: Arc<Self>, mut messages: SessionMessages) {
        while let Some(messages) = self.over.run_until_cancelled(messages.next()).await {
            // First, because `continue_here` reads it last: it finds the end, or the ids below have the session.
            for message in &messages {
                if let SessionContent::End(_) = message.content {
                    self.remember_end(&message.key);
                }
            }
            let ids = self.sessions.ids().into_iter().map(|id| (self.shared.key(&id), id));
            let ids: HashMap<String, SessionId> = ids.collect();
            for SessionMessage { key, content } in messages {
                let (replicas, id) = (Arc::clone(&self), ids.get(&key).cloned());
                // A session whose client reads nothing does not hold up the others.
                tokio::spawn(async move { timeout(HAND_OVER_TIME, replicas.hand_over(&key, id, content)).await });
            }
        }
    }

    /// Hands a message to its session, if the session is here.
    async fn hand_over(&self, key: &str, id: Option<SessionId>, content: SessionContent) {
        match (content, id) {
            (SessionContent::End(ender), id) => {
                if let Some(id) = id {
                    self.sessions.close(&id).await;
                }
                // Without it, the other host waits a little longer.
                drop(self.shared.confirm_end(key, &ender).await);
            }
            (SessionContent::Ended(host), _) => {
                if let Some(confirmations) = self.ending.lock_recovered().get(key) {
                    drop(confirmations.try_send(host));
                }
            }
            (SessionContent::Response(text) | SessionContent::Cancel(text), Some(id)) => {
                if let Judged::Message(message) = judge(text.as_bytes()) {
                    // An error means that the session has ended.
                    drop(self.instances.accept_message(&id, *message).await);
                }
            }
            (SessionContent::Response(_) | SessionContent::Cancel(_), None) => {}
        }
    }
}

/// Waits until these hosts have confirmed the end of a session.
async fn confirmed(hosts: &[String], mut confirmations: mpsc::Receiver<String>) {
    let mut missing: HashSet<&str> = hosts.iter().map(String::as_str).collect();
    while !missing.is_empty() {
        let Some(host) = confirmations.recv().await else { return };
        missing.remove(host.as_str());
    }
}

/// Returns what any host needs to continue a session, as text.
///
/// # Errors
/// It is too large to be kept.
pub(crate) fn parameters(meaning: Option<&SharedMeaning>) -> Result<String, Unserved> {
    let Some(SharedMeaning::Begin(parameters)) = meaning else { return Err(Unserved::Unknown) };
    let text = serde_json::to_string(parameters.as_ref()).map_err(|_| Unserved::Unknown)?;
    if text.len() > SESSION_PARAMETERS_BYTES_MAX { Err(Unserved::TooLarge) } else { Ok(text) }
}

fn unserved(error: &SharedSessionError) -> Unserved {
    let text = WithCauses(error).to_string();
    let text = OneLine(&text);
    match error {
        // It is no session of this principal then.
        SharedSessionError::Ledger(LedgerError::Seal(_)) => {
            tracing::warn!(target: "portcullis::server", event = "session", "a session was changed: {text}");
            Unserved::Unknown
        }
        // The readiness probe tells the operator once.
        _ => {
            tracing::debug!(target: "portcullis::server", event = "session", "sessions cannot be used: {text}");
            Unserved::Unreachable
        }
    }
}
