//! What the inner calls of a call may write together. The share of an inner call comes from its parent alone, and what
//! it does not use goes back there. Its own inner calls share it in turn.

use portcullis_policy::Limits;
use portcullis_sandbox::Effects;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The quotas that the inner calls of one call share.
pub(crate) struct QuotaPool {
    whole: QuotaAmount,
    written_left: AtomicU64,
    created_left: AtomicU64,
}

/// Bytes written and entries created.
#[derive(Clone, Copy, Default)]
struct QuotaAmount {
    written: u64,
    created: u64,
}

impl QuotaPool {
    /// Makes the pool of a call with these limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        let whole = QuotaAmount { written: limits.written_bytes as u64, created: limits.created_entries as u64 };
        Self { whole, written_left: AtomicU64::new(whole.written), created_left: AtomicU64::new(whole.created) }
    }

    /// Takes the share of an inner call with these limits: at most one of `shares` equal parts of the rest. Lowers
    /// the limits to it.
    pub(crate) fn take(self: &Arc<Self>, limits: &mut Limits, shares: u64) -> InnerQuota {
        let share = QuotaAmount {
            written: take(&self.written_left, limits.written_bytes as u64, shares),
            created: take(&self.created_left, limits.created_entries as u64, shares),
        };
        limits.written_bytes = usize::try_from(share.written).unwrap_or(usize::MAX);
        limits.created_entries = usize::try_from(share.created).unwrap_or(usize::MAX);
        InnerQuota { pool: Arc::clone(self), share }
    }

    fn give_back(&self, unused: QuotaAmount) {
        self.written_left.fetch_add(unused.written, Ordering::AcqRel);
        self.created_left.fetch_add(unused.created, Ordering::AcqRel);
    }

    /// Returns what the inner calls have used, or still hold.
    fn used(&self) -> QuotaAmount {
        QuotaAmount {
            written: self.whole.written.saturating_sub(self.written_left.load(Ordering::Acquire)),
            created: self.whole.created.saturating_sub(self.created_left.load(Ordering::Acquire)),
        }
    }
}

/// Takes at most this amount and at most one of `shares` equal parts. Returns what it took.
fn take(left: &AtomicU64, amount: u64, shares: u64) -> u64 {
    let share = |left: u64| amount.min(left / shares.max(1));
    // The share is computed from the value that is replaced, so that concurrent calls cannot take more than there is.
    let before = left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| Some(left - share(left)));
    before.map_or(0, share)
}

/// The share of a call that has not started. If it is dropped, all of it is returned: the call was refused after its
/// grant, or it runs in the host and writes no files.
pub(crate) struct InnerQuota {
    pool: Arc<QuotaPool>,
    share: QuotaAmount,
}

impl InnerQuota {
    /// Starts to use the share. From here on, all of it counts as used unless [`StartedQuota::settle`] is called.
    pub(crate) fn start(mut self) -> StartedQuota {
        // Dropping the rest of `self` returns what it still has, which is nothing.
        StartedQuota { pool: Arc::clone(&self.pool), share: std::mem::take(&mut self.share) }
    }
}

impl Drop for InnerQuota {
    fn drop(&mut self) {
        self.pool.give_back(self.share);
    }
}

/// The share of a running call. If it is dropped, all of it counts as used, because a call that was killed may have
/// used it.
pub(crate) struct StartedQuota {
    pool: Arc<QuotaPool>,
    share: QuotaAmount,
}

impl StartedQuota {
    /// Returns what neither the call nor its own inner calls used.
    pub(crate) fn settle(self, effects: &Effects, inner: &QuotaPool) {
        // What its inner calls used came out of this share, too.
        let (own_created, inner) = (effects.created + effects.directories, inner.used());
        self.pool.give_back(QuotaAmount {
            written: self.share.written.saturating_sub(effects.written_bytes).saturating_sub(inner.written),
            created: self.share.created.saturating_sub(own_created).saturating_sub(inner.created),
        });
    }
}
