//! What becomes of a question to a person: how long it stays answerable, and how long an answer holds.
//!
//! It must not know how a person is asked, nor what time it is.

use std::time::Duration;

const HOUR_SECONDS: u64 = 60 * 60;
const HOUR_MILLISECONDS: usize = 60 * 60 * 1000;

/// How long a pending call stays answerable: whoever comes back the next morning still finds it.
pub(crate) const PENDING_HOURS: u64 = 24;
/// After thirty days nobody knows any more what the call was for.
pub(crate) const PENDING_CEILING_MILLISECONDS: usize = 30 * 24 * HOUR_MILLISECONDS;
/// How long an answer for a session holds: a session that lasts longer is another day's work.
pub(crate) const SESSION_HOURS: u64 = 24;
/// The same ceiling as for pending calls: no session that a person remembers is older.
pub(crate) const SESSION_CEILING_MILLISECONDS: usize = 30 * 24 * HOUR_MILLISECONDS;
/// How long an answer for always holds: ninety days, so that what is no longer used is asked again.
pub(crate) const ALWAYS_HOURS: u64 = 90 * 24;
/// A year; what must hold longer is a rule, which somebody reviews.
pub(crate) const ALWAYS_CEILING_MILLISECONDS: usize = 365 * 24 * HOUR_MILLISECONDS;

/// The call that comes this often in a row is asked about, whatever the rules say: a model in a loop does not stop by
/// itself, and two tries are common.
pub(crate) const REPEATS: u64 = 3;
/// A million calls are as good as any number; a limit cannot be off.
pub(crate) const REPEATS_CEILING: usize = 1_000_000;

/// What becomes of a question that nobody is there to answer. A greater one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unattended {
    /// The call waits for an answer.
    Pending,
    /// The call is denied.
    Deny,
}

impl Unattended {
    /// Both words, from the milder to the stricter.
    pub const ALL: [Self; 2] = [Self::Pending, Self::Deny];

    /// The word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Deny => "deny",
        }
    }
}

/// The section `[approvals]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approvals {
    /// What becomes of a question that nobody is there to answer.
    pub unattended: Unattended,
    /// How long a pending call stays answerable.
    pub pending_time: Duration,
    /// How long an answer for a session holds.
    pub session_time: Duration,
    /// How long an answer for always holds.
    pub always_time: Duration,
    /// How often the same call may come in a row until a person is asked about it.
    pub repeats: u64,
}

impl Default for Approvals {
    /// What holds where a policy says nothing.
    fn default() -> Self {
        Self {
            unattended: Unattended::Pending,
            pending_time: Duration::from_secs(PENDING_HOURS * HOUR_SECONDS),
            session_time: Duration::from_secs(SESSION_HOURS * HOUR_SECONDS),
            always_time: Duration::from_secs(ALWAYS_HOURS * HOUR_SECONDS),
            repeats: REPEATS,
        }
    }
}

/// What one text says under `[approvals]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ApprovalSettings {
    pub(crate) unattended: Option<Unattended>,
    pub(crate) pending_time: Option<Duration>,
    pub(crate) session_time: Option<Duration>,
    pub(crate) always_time: Option<Duration>,
    pub(crate) repeats: Option<u64>,
}

impl Approvals {
    /// As a trusted text says.
    pub(crate) fn set(&mut self, settings: &ApprovalSettings) {
        self.unattended = settings.unattended.unwrap_or(self.unattended);
        self.pending_time = settings.pending_time.unwrap_or(self.pending_time);
        self.session_time = settings.session_time.unwrap_or(self.session_time);
        self.always_time = settings.always_time.unwrap_or(self.always_time);
        self.repeats = settings.repeats.unwrap_or(self.repeats);
    }

    /// As an untrusted text says, where that is stricter.
    pub(crate) fn narrow(&mut self, settings: &ApprovalSettings) {
        let mut wanted = *self;
        wanted.set(settings);
        self.unattended = self.unattended.max(wanted.unattended);
        self.pending_time = self.pending_time.min(wanted.pending_time);
        self.session_time = self.session_time.min(wanted.session_time);
        self.always_time = self.always_time.min(wanted.always_time);
        self.repeats = self.repeats.min(wanted.repeats);
    }
}
