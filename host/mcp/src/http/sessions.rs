//! The sessions of the handshake era in this process: their owners and their limits.
//!
//! A session id is not a credential. It is valid only for the principal that began the session. A session with an open
//! request is never idle, however long the request takes.

use super::options::HttpLimits;
use super::session_instances::SessionInstances;
use portcullis::policy::Principal;
use portcullis::policy::recovery::RecoverMutex;
use portcullis::shared_sessions::SessionActivity;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Maximum interval between searches for idle sessions.
const SWEEP_TIME_MAX: Duration = Duration::from_secs(60);

/// All current sessions.
pub(crate) struct Sessions {
    instances: Arc<SessionInstances>,
    limits: HttpLimits,
    table: Mutex<SessionTable>,
}

#[derive(Default)]
struct SessionTable {
    sessions: HashMap<SessionId, OpenSession>,
    /// The owners of sessions that are about to begin.
    beginning: Vec<Principal>,
}

struct OpenSession {
    owner: Principal,
    /// Open requests.
    requests: usize,
    /// Open streams for notifications.
    streams: usize,
    used: Instant,
}

/// How a request uses a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionUse {
    Request,
    Stream,
}

/// The limit that prevents a new session, because every existing session is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The limit of this principal.
    Own,
    /// The limit of all principals together.
    All,
}

/// A guard that marks a session as in use until it is dropped.
pub(crate) struct Using {
    sessions: Arc<Sessions>,
    id: SessionId,
    what: SessionUse,
}

/// The reserved place of a session that is about to begin. Dropping it releases the reservation.
pub(crate) struct SessionPlace {
    sessions: Arc<Sessions>,
    owner: Principal,
}

impl Sessions {
    pub(crate) fn new(instances: Arc<SessionInstances>, limits: HttpLimits) -> Arc<Self> {
        Arc::new(Self { instances, limits, table: Mutex::default() })
    }

    /// Marks a session as in use, if it belongs to this principal.
    pub(crate) fn open(self: &Arc<Self>, id: &str, principal: &Principal, what: SessionUse) -> Option<Using> {
        let mut table = self.table();
        let (id, session) = table.sessions.get_key_value(id).map(|(id, _)| id.clone()).and_then(|id| {
            let session = table.sessions.get_mut(&id)?;
            Some((id, session))
        })?;
        if session.owner != *principal {
            return None;
        }
        *session.count(what) += 1;
        session.used = Instant::now();
        drop(table);
        Some(Using { sessions: Arc::clone(self), id, what })
    }

    /// Reserves a place for a session of a principal. If there is none, ends the session that was idle the longest: one
    /// of the principal's own, or one of the principal with the most sessions.
    pub(crate) async fn begin(self: &Arc<Self>, owner: &Principal) -> Result<SessionPlace, Full> {
        // An instance can end by itself, and its session still has its place in the table then.
        if self.is_full(owner) {
            self.forget_ended().await;
        }
        let evicted = self.table().reserve(owner, &self.limits)?;
        // Before the wait, so that dropping this future releases the reservation.
        let place = SessionPlace { sessions: Arc::clone(self), owner: owner.clone() };
        if let Some(evicted) = evicted {
            self.close(&evicted).await;
        }
        Ok(place)
    }

    /// Returns whether a session of this principal is here.
    pub(crate) fn has(&self, id: &str, principal: &Principal) -> bool {
        self.table().sessions.get(id).is_some_and(|session| session.owner == *principal)
    }

    /// Returns the ids of all sessions here.
    pub(crate) fn ids(&self) -> Vec<SessionId> {
        self.table().sessions.keys().cloned().collect()
    }

    /// Returns the ids of the sessions here with an open request.
    pub(crate) fn calling(&self) -> Vec<SessionId> {
        let table = self.table();
        table.sessions.iter().filter(|(_, session)| session.requests > 0).map(|(id, _)| id.clone()).collect()
    }

    /// Returns how each session here is used, and whether that was since a time.
    pub(crate) fn activities(&self, since: Instant) -> Vec<(SessionId, SessionActivity)> {
        let table = self.table();
        let activities = table.sessions.iter().map(|(id, session)| (id.clone(), session.activity(since)));
        activities.collect()
    }

    /// Removes a session that its client ended.
    pub(crate) fn forget(&self, id: &str) {
        self.table().sessions.remove(id);
    }

    /// Ends a session.
    pub(crate) async fn close(&self, id: &SessionId) {
        self.forget(id);
        // An error means that the session has already ended.
        drop(self.instances.close_session(id).await);
    }

    /// Ends idle sessions periodically, until the server stops.
    pub(crate) async fn sweep(self: Arc<Self>, stopped: CancellationToken) {
        let idle = self.limits.session_idle_time;
        let pause = (idle / 4).min(SWEEP_TIME_MAX).max(Duration::from_millis(10));
        while stopped.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
            // Collected first, because the lock cannot be held while a session is closed.
            let ids = self.idle_for(idle);
            self.close_idle(ids, idle).await;
        }
    }

    fn idle_for(&self, time: Duration) -> Vec<SessionId> {
        let table = self.table();
        let idle = table.sessions.iter().filter(|(_, session)| session.is_idle_for(time));
        idle.map(|(id, _)| id.clone()).collect()
    }

    /// Ends those of the sessions that are still idle.
    async fn close_idle(&self, ids: Vec<SessionId>, time: Duration) {
        for id in ids {
            // A request may have used it while others were closed.
            let is_removed = self.table().remove_idle(&id, time);
            if is_removed {
                // An error means that the session has already ended.
                drop(self.instances.close_session(&id).await);
            }
        }
    }

    /// Returns the number of sessions.
    #[cfg(test)]
    fn count(&self) -> usize {
        self.table().sessions.len()
    }

    fn is_full(&self, owner: &Principal) -> bool {
        let table = self.table();
        table.of(owner) >= self.limits.sessions_per_principal || table.all() >= self.limits.sessions
    }

    /// Removes the sessions that have already ended.
    async fn forget_ended(&self) {
        // Read before the instances, so that a session that begins meanwhile is not taken for one that has ended.
        let known = self.ids();
        let live = self.instances.ids().await;
        self.table().remove_ended(&known, &live);
    }

    fn table(&self) -> MutexGuard<'_, SessionTable> {
        self.table.lock_recovered()
    }
}

impl SessionTable {
    fn all(&self) -> usize {
        self.sessions.len() + self.beginning.len()
    }

    fn of(&self, owner: &Principal) -> usize {
        let sessions = self.sessions.values().filter(|session| session.owner == *owner).count();
        sessions + self.beginning.iter().filter(|beginning| *beginning == owner).count()
    }

    /// Reserves a place, and returns the session that must end for it, if any.
    fn reserve(&mut self, owner: &Principal, limits: &HttpLimits) -> Result<Option<SessionId>, Full> {
        let evicted = if self.of(owner) >= limits.sessions_per_principal {
            Some(self.idlest_of(owner).ok_or(Full::Own)?)
        } else if self.all() >= limits.sessions {
            let most = self.sessions.values().map(|session| &session.owner).max_by_key(|owner| self.of(owner));
            let most = most.cloned().ok_or(Full::All)?;
            Some(self.idlest_of(&most).ok_or(Full::All)?)
        } else {
            None
        };
        // Under the same lock, so that no other reservation evicts it again.
        if let Some(evicted) = &evicted {
            self.sessions.remove(evicted);
        }
        self.beginning.push(owner.clone());
        Ok(evicted)
    }

    /// Removes those of the known sessions that have no live instance.
    fn remove_ended(&mut self, known: &[SessionId], live: &HashSet<SessionId>) {
        for ended in known.iter().filter(|id| !live.contains(*id)) {
            self.sessions.remove(ended);
        }
    }

    /// Removes a session if it is idle. Returns whether it was removed. No request can use it from then on.
    fn remove_idle(&mut self, id: &SessionId, time: Duration) -> bool {
        let is_idle = self.sessions.get(id).is_some_and(|session| session.is_idle_for(time));
        is_idle && self.sessions.remove(id).is_some()
    }

    /// Returns the least recently used session without an open request. Sessions with an open stream come last.
    fn idlest_of(&self, owner: &Principal) -> Option<SessionId> {
        let idle = self.sessions.iter().filter(|(_, session)| session.owner == *owner && session.requests == 0);
        idle.min_by_key(|(_, session)| (session.streams > 0, session.used)).map(|(id, _)| id.clone())
    }
}

impl OpenSession {
    fn count(&mut self, what: SessionUse) -> &mut usize {
        match what {
            SessionUse::Request => &mut self.requests,
            SessionUse::Stream => &mut self.streams,
        }
    }

    fn activity(&self, since: Instant) -> SessionActivity {
        if self.requests > 0 {
            SessionActivity::Calling
        } else if self.streams > 0 || self.used >= since {
            SessionActivity::Used
        } else {
            SessionActivity::Idle
        }
    }

    fn is_idle_for(&self, time: Duration) -> bool {
        self.requests == 0 && self.streams == 0 && self.used.elapsed() >= time
    }
}

impl SessionPlace {
    /// Records that the session has begun.
    pub(crate) fn began(self, id: &str) {
        let session = OpenSession { owner: self.owner.clone(), requests: 0, streams: 0, used: Instant::now() };
        self.sessions.table().sessions.insert(SessionId::from(id), session);
    }
}

impl Drop for SessionPlace {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        if let Some(index) = table.beginning.iter().position(|beginning| *beginning == self.owner) {
            table.beginning.swap_remove(index);
        }
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        if let Some(session) = table.sessions.get_mut(&self.id) {
            let count = session.count(self.what);
            *count = count.saturating_sub(1);
            session.used = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(all: usize, own: usize) -> (Arc<Sessions>, Principal, Principal) {
        let limits = HttpLimits { sessions: all, sessions_per_principal: own, ..HttpLimits::default() };
        (Sessions::new(Arc::default(), limits), "a".parse().unwrap(), "b".parse().unwrap())
    }

    impl Sessions {
        /// Begins a session that the manager does not know. It bypasses `forget_ended`, which would remove it.
        fn begun(self: &Arc<Self>, owner: &Principal, id: &str) -> Result<Option<SessionId>, Full> {
            let evicted = self.table().reserve(owner, &self.limits)?;
            SessionPlace { sessions: Arc::clone(self), owner: owner.clone() }.began(id);
            Ok(evicted)
        }
    }

    #[test]
    fn only_the_principal_that_began_a_session_can_use_it() {
        let (sessions, a, b) = sessions(8, 8);
        sessions.begun(&a, "1").unwrap();
        assert!(sessions.open("1", &a, SessionUse::Request).is_some());
        assert!(sessions.open("1", &b, SessionUse::Request).is_none());
        assert!(sessions.open("2", &a, SessionUse::Request).is_none());
    }

    #[test]
    fn the_longest_idle_session_is_evicted_and_one_in_use_never_is() {
        let (sessions, a, _) = sessions(8, 3);
        for id in ["1", "2", "3"] {
            assert_eq!(sessions.begun(&a, id), Ok(None));
        }
        let listening = sessions.open("2", &a, SessionUse::Stream).unwrap();
        let calling = sessions.open("1", &a, SessionUse::Request).unwrap();
        assert_eq!(sessions.begun(&a, "4").unwrap().as_deref(), Some("3"));
        assert_eq!(sessions.begun(&a, "5").unwrap().as_deref(), Some("4"));
        let _calling_too = sessions.open("5", &a, SessionUse::Request).unwrap();
        assert_eq!(sessions.begun(&a, "6").unwrap().as_deref(), Some("2"));
        drop(listening);
        let _calling_three = sessions.open("6", &a, SessionUse::Request).unwrap();
        assert_eq!(sessions.begun(&a, "7"), Err(Full::Own));
        drop(calling);
        assert_eq!(sessions.begun(&a, "7").unwrap().as_deref(), Some("1"));
        assert_eq!(sessions.count(), 3);
    }

    #[test]
    fn the_principal_with_the_most_sessions_loses_one_to_another() {
        let (sessions, a, b) = sessions(3, 3);
        for (owner, id) in [(&b, "1"), (&a, "2"), (&a, "3")] {
            sessions.begun(owner, id).unwrap();
        }
        assert_eq!(sessions.begun(&b, "4").unwrap().as_deref(), Some("2"));
    }

    #[tokio::test]
    async fn a_session_that_is_used_again_is_not_closed_as_idle() {
        let (sessions, a, _) = sessions(8, 8);
        for id in ["1", "2"] {
            sessions.begun(&a, id).unwrap();
        }
        let idle = sessions.idle_for(Duration::ZERO);
        assert_eq!(idle.len(), 2);
        let _using = sessions.open("1", &a, SessionUse::Request).unwrap();
        sessions.close_idle(idle, Duration::ZERO).await;
        assert!(sessions.has("1", &a) && !sessions.has("2", &a));
    }

    #[test]
    fn a_session_that_begins_during_a_look_at_the_instances_has_not_ended() {
        let (sessions, a, _) = sessions(8, 8);
        sessions.begun(&a, "1").unwrap();
        let (known, live) = (sessions.ids(), HashSet::new());
        sessions.begun(&a, "2").unwrap();
        sessions.table().remove_ended(&known, &live);
        assert!(!sessions.has("1", &a) && sessions.has("2", &a));
    }

    #[tokio::test]
    async fn a_reservation_that_is_not_used_is_released() {
        let (sessions, a, _) = sessions(1, 1);
        let place = sessions.begin(&a).await.unwrap();
        assert_eq!(sessions.begin(&a).await.err(), Some(Full::Own));
        drop(place);
        assert!(sessions.begin(&a).await.is_ok());
    }
}
