//! The sessions of the handshake era: whose each is, and how many there may be.
//!
//! The id of a session is known to the client that began it, but it is no token: it counts only together with the
//! principal who began it. Sessions are not ended for being quiet while a request is open, however long it takes.

use super::options::HttpLimits;
use portcullis::policy::Principal;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often sessions that lie idle are looked for, at most.
const SWEEP_TIME_MAX: Duration = Duration::from_secs(60);

/// The sessions that there are.
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    limits: HttpLimits,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    sessions: HashMap<SessionId, Session>,
    /// Whose sessions are about to begin.
    beginning: Vec<Principal>,
}

struct Session {
    owner: Principal,
    /// Open requests, and open streams for notifications.
    requests: usize,
    streams: usize,
    used: Instant,
}

/// What a session is open for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Request,
    Stream,
}

/// There are as many sessions as there may be, and each of them is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// Of this principal.
    Own,
    /// Of all.
    All,
}

/// The use of a session, until this is dropped.
pub(crate) struct Using {
    sessions: Arc<Sessions>,
    id: SessionId,
    what: Use,
}

/// The place of a session that is about to begin, given back when this is dropped.
pub(crate) struct Place {
    sessions: Arc<Sessions>,
    owner: Principal,
}

impl Sessions {
    pub(crate) fn new(manager: Arc<LocalSessionManager>, limits: HttpLimits) -> Arc<Self> {
        Arc::new(Self { manager, limits, table: Mutex::default() })
    }

    /// Uses a session, where it is one of this principal's.
    pub(crate) fn open(self: &Arc<Self>, id: &str, principal: &Principal, what: Use) -> Option<Using> {
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

    /// Makes room for a session of a principal. Where there is none, the session goes that was idle the longest: one of
    /// the principal's own, or of whoever has the most.
    pub(crate) async fn begin(self: &Arc<Self>, owner: &Principal) -> Result<Place, Full> {
        if self.is_full(owner) {
            self.forget_ended().await;
        }
        let evicted = self.table().reserve(owner, &self.limits)?;
        let place = Place { sessions: Arc::clone(self), owner: owner.clone() };
        if let Some(evicted) = evicted {
            self.close(&evicted).await;
        }
        Ok(place)
    }

    /// Forgets a session that its client ended.
    pub(crate) fn forget(&self, id: &str) {
        self.table().sessions.remove(id);
    }

    /// Ends a session.
    pub(crate) async fn close(&self, id: &SessionId) {
        self.forget(id);
        // Where this fails the session has ended by itself.
        drop(self.manager.close_session(id).await);
    }

    /// Ends sessions that lie idle, until the server stops.
    pub(crate) async fn sweep(self: Arc<Self>, stopped: CancellationToken) {
        let idle = self.limits.session_idle_time;
        let pause = (idle / 4).min(SWEEP_TIME_MAX).max(Duration::from_millis(10));
        while stopped.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
            let over: Vec<SessionId> = {
                let table = self.table();
                let over = table.sessions.iter().filter(|(_, session)| session.is_idle_for(idle));
                over.map(|(id, _)| id.clone()).collect()
            };
            for id in over {
                self.close(&id).await;
            }
        }
    }

    /// How many there are.
    #[cfg(test)]
    fn count(&self) -> usize {
        self.table().sessions.len()
    }

    fn is_full(&self, owner: &Principal) -> bool {
        let table = self.table();
        table.of(owner) >= self.limits.sessions_per_principal || table.all() >= self.limits.sessions
    }

    /// Forgets the sessions that ended by themselves.
    async fn forget_ended(&self) {
        let live = self.manager.sessions.read().await;
        self.table().sessions.retain(|id, _| live.contains_key(id));
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn all(&self) -> usize {
        self.sessions.len() + self.beginning.len()
    }

    fn of(&self, owner: &Principal) -> usize {
        let sessions = self.sessions.values().filter(|session| session.owner == *owner).count();
        sessions + self.beginning.iter().filter(|beginning| *beginning == owner).count()
    }

    /// Keeps a place, and says which session has to end for it.
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
        if let Some(evicted) = &evicted {
            self.sessions.remove(evicted);
        }
        self.beginning.push(owner.clone());
        Ok(evicted)
    }

    /// The session with no request open that was used the longest ago; one that somebody listens to only after those
    /// that nobody does.
    fn idlest_of(&self, owner: &Principal) -> Option<SessionId> {
        let idle = self.sessions.iter().filter(|(_, session)| session.owner == *owner && session.requests == 0);
        idle.min_by_key(|(_, session)| (session.streams > 0, session.used)).map(|(id, _)| id.clone())
    }
}

impl Session {
    fn count(&mut self, what: Use) -> &mut usize {
        match what {
            Use::Request => &mut self.requests,
            Use::Stream => &mut self.streams,
        }
    }

    fn is_idle_for(&self, time: Duration) -> bool {
        self.requests == 0 && self.streams == 0 && self.used.elapsed() >= time
    }
}

impl Place {
    /// The session has begun.
    pub(crate) fn began(self, id: &str) {
        let session = Session { owner: self.owner.clone(), requests: 0, streams: 0, used: Instant::now() };
        self.sessions.table().sessions.insert(SessionId::from(id), session);
    }
}

impl Drop for Place {
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
        /// Begins a session that the manager does not know: none is, so nothing may be forgotten for having ended.
        fn begun(self: &Arc<Self>, owner: &Principal, id: &str) -> Result<Option<SessionId>, Full> {
            let evicted = self.table().reserve(owner, &self.limits)?;
            Place { sessions: Arc::clone(self), owner: owner.clone() }.began(id);
            Ok(evicted)
        }
    }

    #[test]
    fn a_session_is_open_to_the_principal_alone_who_began_it() {
        let (sessions, a, b) = sessions(8, 8);
        sessions.begun(&a, "1").unwrap();
        assert!(sessions.open("1", &a, Use::Request).is_some());
        assert!(sessions.open("1", &b, Use::Request).is_none());
        assert!(sessions.open("2", &a, Use::Request).is_none());
    }

    #[test]
    fn the_session_that_was_idle_the_longest_makes_room_and_one_in_use_never_does() {
        let (sessions, a, _) = sessions(8, 3);
        for id in ["1", "2", "3"] {
            assert_eq!(sessions.begun(&a, id), Ok(None));
        }
        let listening = sessions.open("2", &a, Use::Stream).unwrap();
        let calling = sessions.open("1", &a, Use::Request).unwrap();
        assert_eq!(sessions.begun(&a, "4").unwrap().as_deref(), Some("3"));
        assert_eq!(sessions.begun(&a, "5").unwrap().as_deref(), Some("4"));
        let _calling_too = sessions.open("5", &a, Use::Request).unwrap();
        assert_eq!(sessions.begun(&a, "6").unwrap().as_deref(), Some("2"));
        drop(listening);
        let _calling_three = sessions.open("6", &a, Use::Request).unwrap();
        assert_eq!(sessions.begun(&a, "7"), Err(Full::Own));
        drop(calling);
        assert_eq!(sessions.begun(&a, "7").unwrap().as_deref(), Some("1"));
        assert_eq!(sessions.count(), 3);
    }

    #[test]
    fn who_has_the_most_sessions_makes_room_for_another() {
        let (sessions, a, b) = sessions(3, 3);
        for (owner, id) in [(&b, "1"), (&a, "2"), (&a, "3")] {
            sessions.begun(owner, id).unwrap();
        }
        assert_eq!(sessions.begun(&b, "4").unwrap().as_deref(), Some("2"));
    }

    #[tokio::test]
    async fn a_place_that_no_session_began_in_is_given_back() {
        let (sessions, a, _) = sessions(1, 1);
        let place = sessions.begin(&a).await.unwrap();
        assert_eq!(sessions.begin(&a).await.err(), Some(Full::Own));
        drop(place);
        assert!(sessions.begin(&a).await.is_ok());
    }
}
