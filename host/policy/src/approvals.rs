//! The lifetimes of approval requests and approvals.
//!
//! This file must not know how an approver is asked, or what time it is.

use std::time::Duration;

const HOUR_SECONDS: u64 = 60 * 60;
const HOUR_MILLISECONDS: usize = 60 * 60 * 1000;

/// How long a pending request can be answered. A user who comes back the next morning still finds it.
pub(crate) const PENDING_HOURS: u64 = 24;
/// After thirty days, the approver does not remember what the call was for.
pub(crate) const PENDING_CEILING_MILLISECONDS: usize = 30 * 24 * HOUR_MILLISECONDS;
/// How long an approval for a session lasts. A longer session is another day's work.
pub(crate) const SESSION_HOURS: u64 = 24;
/// The same ceiling as for pending requests. No session that a user remembers is older.
pub(crate) const SESSION_CEILING_MILLISECONDS: usize = 30 * 24 * HOUR_MILLISECONDS;
/// How long an approval for always lasts: ninety days, so that unused approvals expire.
pub(crate) const ALWAYS_HOURS: u64 = 90 * 24;
/// A year. A permission that must last longer should be a rule, which is reviewed.
pub(crate) const ALWAYS_CEILING_MILLISECONDS: usize = 365 * 24 * HOUR_MILLISECONDS;

/// From this many identical calls in a row on, a call needs approval, whatever the rules say. A model in a loop does
/// not stop by itself, and two attempts are common.
pub(crate) const REPEATS: u64 = 3;
/// The limit cannot be turned off. A million calls are as good as no limit.
pub(crate) const REPEATS_CEILING: usize = 1_000_000;

/// What happens to an approval request if no approver is connected. A greater value is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unattended {
    /// The call waits for an approver.
    Pending,
    /// The call is denied.
    Deny,
}

impl Unattended {
    /// Both values, the less strict one first.
    pub const ALL: [Self; 2] = [Self::Pending, Self::Deny];

    /// Returns the word that policies use.
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
    /// What happens to an approval request if no approver is connected.
    pub unattended: Unattended,
    /// How long a pending request can be answered.
    pub pending_time: Duration,
    /// How long an approval for a session lasts.
    pub session_time: Duration,
    /// How long an approval for always lasts.
    pub always_time: Duration,
    /// The number of identical calls in a row from which on a call needs approval.
    pub repeats: u64,
}

impl Default for Approvals {
    /// Returns the defaults.
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

/// The section `[approvals]` of one policy text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ApprovalSettings {
    pub(crate) unattended: Option<Unattended>,
    pub(crate) pending_time: Option<Duration>,
    pub(crate) session_time: Option<Duration>,
    pub(crate) always_time: Option<Duration>,
    pub(crate) repeats: Option<u64>,
}

impl Approvals {
    /// Applies the settings of a trusted text.
    pub(crate) fn set(&mut self, settings: &ApprovalSettings) {
        self.unattended = settings.unattended.unwrap_or(self.unattended);
        self.pending_time = settings.pending_time.unwrap_or(self.pending_time);
        self.session_time = settings.session_time.unwrap_or(self.session_time);
        self.always_time = settings.always_time.unwrap_or(self.always_time);
        self.repeats = settings.repeats.unwrap_or(self.repeats);
    }

    /// Applies the settings of an untrusted text that are stricter.
    pub(crate) fn narrow(&mut self, settings: &ApprovalSettings) {
        // A setting that the text lacks keeps its value in `wanted`, so the comparisons leave it as it is.
        let mut wanted = *self;
        wanted.set(settings);
        self.unattended = self.unattended.max(wanted.unattended);
        self.pending_time = self.pending_time.min(wanted.pending_time);
        self.session_time = self.session_time.min(wanted.session_time);
        self.always_time = self.always_time.min(wanted.always_time);
        self.repeats = self.repeats.min(wanted.repeats);
    }
}
