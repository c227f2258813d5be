//! Counts identical calls and denials in a row, so that the host stops a model that is in a loop and approvers are not
//! flooded.

use super::principal_map::PrincipalMap;
use crate::approver::Question;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Principal, ToolName};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum entries of sessions without an open request. An entry with one is always kept.
const IDLE_SESSIONS_MAX: usize = 1024;

/// Denials in a row after which requests of a session are denied without an approver for a while. People do not read a
/// fourth one with care.
const REFUSALS_MAX: u32 = 3;

/// How long requests of the session are then denied without an approver.
const REFUSED_TIME: Duration = Duration::from_secs(60);

/// Maximum requests of one session that an approver sees at the same time, which is about one turn of a model. The
/// others wait, so that denials in a row stop a flood before it reaches the approver.
const ASKED_AT_ONCE_MAX: usize = 25;

/// A session and its principal.
type RepeatingSession = (String, String);

/// The last call of each session, and how often it was made in a row. Sessions and calls are stored as keyed hashes.
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
    /// Counts a call, and returns how often exactly this call was made in a row.
    pub(crate) fn count(&self, row: RepetitionRow<'_>, (tool, arguments): (&ToolName, &str)) -> u64 {
        // The key of the hash is random in each process. So a caller cannot find two calls or sessions that collide.
        let (key, call) = (self.hasher.hash_one(row), self.hasher.hash_one((tool, arguments)));
        let mut last = self.last.lock_recovered();
        let count = next(&mut last, row, key, call);
        last.insert(row.principal.as_str(), key, Streak { call, count });
        count
    }

    /// Returns what [`Self::count`] would return, and counts nothing.
    pub(crate) fn foresee(&self, row: RepetitionRow<'_>, (tool, arguments): (&ToolName, &str)) -> u64 {
        let (key, call) = (self.hasher.hash_one(row), self.hasher.hash_one((tool, arguments)));
        next(&mut self.last.lock_recovered(), row, key, call)
    }

    /// Resets the count, because an approver has seen the call.
    pub(crate) fn reset(&self, row: RepetitionRow<'_>) {
        let key = self.hasher.hash_one(row);
        self.last.lock_recovered().remove(row.principal.as_str(), &key);
    }
}

/// The calls that are counted together. An explanation or a batch between two calls does not interrupt their sequence.
#[derive(Clone, Copy, Hash)]
pub(crate) enum RepeatedCalls {
    /// Calls of `tools.explain`.
    Explanations,
    /// Calls of `tools.batch`. The calls in a batch are not among them.
    Batches,
    /// Every other call, also one in a batch.
    Others,
}

/// A sequence of calls that are counted together.
#[derive(Clone, Copy, Hash)]
pub(crate) struct RepetitionRow<'a> {
    pub(crate) session: &'a str,
    pub(crate) principal: &'a Principal,
    pub(crate) calls: RepeatedCalls,
}

fn next(last: &mut PrincipalMap<u64, Streak>, row: RepetitionRow<'_>, key: u64, call: u64) -> u64 {
    let before = last.get(row.principal.as_str(), &key).filter(|streak| streak.call == call);
    before.map_or(0, |streak| streak.count).saturating_add(1)
}

/// The number of denials in a row in each session.
#[derive(Default)]
pub(super) struct Refusals(Mutex<PrincipalMap<RepeatingSession, RefusedCalls>>);

#[derive(Clone, Copy)]
struct RefusedCalls {
    count: u32,
    at: Instant,
}

impl Refusals {
    /// Returns why requests of the session are denied without an approver now, if they are.
    pub(super) fn again(&self, question: &Question) -> Option<String> {
        let mut sessions = self.0.lock_recovered();
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
            "the approver said no {REFUSALS_MAX} times in a row and is not asked again for {} seconds; do other work",
            REFUSED_TIME.as_secs()
        ))
    }

    /// Counts a denial. A denial during the pause does not extend the pause.
    pub(super) fn count(&self, question: &Question) {
        let mut sessions = self.0.lock_recovered();
        let key = session(question);
        let before = sessions.get(&question.principal, &key).map_or(0, |refused| refused.count);
        if before < REFUSALS_MAX {
            sessions.insert(&question.principal, key, RefusedCalls { count: before + 1, at: Instant::now() });
        }
    }

    /// Resets the count, because an approver approved a request.
    pub(super) fn forget(&self, question: &Question) {
        self.0.lock_recovered().remove(&question.principal, &session(question));
    }
}

/// Limits how many requests of each session an approver sees at the same time.
#[derive(Default)]
pub(super) struct Attention(Mutex<HashMap<RepeatingSession, Weak<Semaphore>>>);

impl Attention {
    /// Waits until the approver may see one more request. Other channels can answer it meanwhile.
    pub(super) async fn wait(&self, question: &Question) -> Option<OwnedSemaphorePermit> {
        self.of(question).acquire_owned().await.ok()
    }

    fn of(&self, question: &Question) -> Arc<Semaphore> {
        let mut sessions = self.0.lock_recovered();
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

fn session(question: &Question) -> RepeatingSession {
    (question.session.clone(), question.principal.clone())
}
