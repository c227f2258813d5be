//! Calls and refusals in a row. A model in a loop asks the same again and again: the host notices, so that a person
//! does not have to.

use super::principal_map::PrincipalMap;
use crate::approver::Question;
use portcullis_policy::{Principal, ToolName};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum entries of sessions without an open question. An entry with one is always kept.
const IDLE_SESSIONS_MAX: usize = 1024;

/// The refusals in a row after which a session is not asked about for a while: nobody reads the fourth with care.
const REFUSALS_MAX: u32 = 3;

/// How long a session is not asked about after that.
const REFUSED_TIME: Duration = Duration::from_secs(60);

/// The most questions of one session that an approver is asked at one time: one turn of a model. The others wait, so
/// that refusals in a row are noticed before a flood has reached anybody.
const ASKED_AT_ONCE_MAX: usize = 25;

/// Who repeats.
type Session = (String, String);

/// The last call of each session, and how often it came in a row. Sessions and calls are known by keyed hashes.
#[derive(Default)]
pub(crate) struct Repetition {
    hasher: RandomState,
    last: Mutex<PrincipalMap<u64, Streak>>,
}

struct Streak {
    call: u64,
    count: u64,
}

impl Repetition {
    /// Counts a call, and says how often exactly it has now come in a row.
    pub(crate) fn count(&self, row: Row<'_>, (tool, arguments): (&ToolName, &str)) -> u64 {
        let (key, call) = (self.hasher.hash_one(row), self.hasher.hash_one((tool, arguments)));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let count = next(&mut last, row, key, call);
        last.insert(row.principal.as_str(), key, Streak { call, count });
        count
    }

    /// Says how often exactly a call would have come in a row if it came now, and counts nothing.
    pub(crate) fn foresee(&self, row: Row<'_>, (tool, arguments): (&ToolName, &str)) -> u64 {
        let (key, call) = (self.hasher.hash_one(row), self.hasher.hash_one((tool, arguments)));
        next(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner), row, key, call)
    }

    /// Begins to count anew: a person has looked at it.
    pub(crate) fn reset(&self, row: Row<'_>) {
        let key = self.hasher.hash_one(row);
        self.last.lock().unwrap_or_else(PoisonError::into_inner).remove(row.principal.as_str(), &key);
    }
}

/// Calls that are counted one after the other.
#[derive(Clone, Copy, Hash)]
pub(crate) struct Row<'a> {
    pub(crate) session: &'a str,
    pub(crate) principal: &'a Principal,
    /// Whether these are the explanations of the session. They are counted beside its calls: an explanation between two
    /// calls changes nothing about what it explains.
    pub(crate) explanations: bool,
}

fn next(last: &mut PrincipalMap<u64, Streak>, row: Row<'_>, key: u64, call: u64) -> u64 {
    let before = last.get(row.principal.as_str(), &key).filter(|streak| streak.call == call);
    before.map_or(0, |streak| streak.count).saturating_add(1)
}

/// How often in a row a person has said no in each session.
#[derive(Default)]
pub(super) struct Refusals(Mutex<PrincipalMap<Session, Refused>>);

#[derive(Clone, Copy)]
struct Refused {
    count: u32,
    at: Instant,
}

impl Refusals {
    /// Why nobody is asked now, if so.
    pub(super) fn again(&self, question: &Question) -> Option<String> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = session(question);
        let refused = sessions.get(&question.principal, &key).copied()?;
        if refused.count < REFUSALS_MAX {
            return None;
        }
        if refused.at.elapsed() >= REFUSED_TIME {
            sessions.remove(&question.principal, &key);
            return None;
        }
        Some(format!(
            "a person said no {REFUSALS_MAX} times in a row and is not asked again for {} seconds; do something else",
            REFUSED_TIME.as_secs()
        ))
    }

    /// Counts a no. One that comes while nobody is asked makes that no longer.
    pub(super) fn count(&self, question: &Question) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = session(question);
        let before = sessions.get(&question.principal, &key).map_or(0, |refused| refused.count);
        if before < REFUSALS_MAX {
            sessions.insert(&question.principal, key, Refused { count: before + 1, at: Instant::now() });
        }
    }

    /// Begins to count anew: a person said yes.
    pub(super) fn forget(&self, question: &Question) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&question.principal, &session(question));
    }
}

/// How many questions of each session an approver has before it.
#[derive(Default)]
pub(super) struct Attention(Mutex<HashMap<Session, Weak<Semaphore>>>);

impl Attention {
    /// Waits until the approver may be asked about one more. Other channels answer meanwhile.
    pub(super) async fn wait(&self, question: &Question) -> Option<OwnedSemaphorePermit> {
        self.of(question).acquire_owned().await.ok()
    }

    fn of(&self, question: &Question) -> Arc<Semaphore> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() > IDLE_SESSIONS_MAX {
            sessions.retain(|_, asked| asked.strong_count() > 0);
        }
        let asked = sessions.entry(session(question)).or_default();
        asked.upgrade().unwrap_or_else(|| {
            let new = Arc::new(Semaphore::new(ASKED_AT_ONCE_MAX));
            *asked = Arc::downgrade(&new);
            new
        })
    }
}

fn session(question: &Question) -> Session {
    (question.session.clone(), question.principal.clone())
}
