//! A cancellation signal from a caller that no longer wants an answer. It is cheap to clone and cannot be reset.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A signal that asks a running call to end. The guest sees it at once through `is-cancelled`. If it continues, it is
/// stopped after a grace period, or at once if the caller grants none.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<CancellationState>);

#[derive(Debug, Default)]
struct CancellationState {
    /// One of the three constants below. It never decreases.
    given: AtomicU8,
    changed: Notify,
    /// A token of the embedder. When it is cancelled, this is cancelled with grace.
    token: Option<CancellationToken>,
}

const NOT_GIVEN: u8 = 0;
const WITH_GRACE: u8 = 1;
const AT_ONCE: u8 = 2;

impl Cancellation {
    /// Creates a signal that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels with a grace period. Further calls have no effect.
    pub fn cancel(&self) {
        self.give(WITH_GRACE);
    }

    /// Cancels without a grace period. A guest that waits is stopped at once, and one that computes at the next tick of
    /// its clock. After [`Cancellation::cancel`], this ends the grace period.
    pub fn cancel_at_once(&self) {
        self.give(AT_ONCE);
    }

    /// Returns whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.given() > NOT_GIVEN
    }

    /// Returns whether the call was cancelled without a grace period.
    pub(crate) fn is_at_once(&self) -> bool {
        self.given() == AT_ONCE
    }

    /// Waits until the call is cancelled.
    pub async fn cancelled(&self) {
        self.reached(WITH_GRACE).await;
    }

    /// Cancels this signal whenever `other` is cancelled. Returns once `other` is cancelled without a grace period.
    pub async fn follow(&self, other: &Self) {
        for word in [WITH_GRACE, AT_ONCE] {
            other.reached(word).await;
            self.give(other.given());
        }
    }

    /// Waits until the call is cancelled without a grace period.
    pub(crate) async fn cancelled_at_once(&self) {
        self.reached(AT_ONCE).await;
    }

    fn give(&self, word: u8) {
        self.0.given.fetch_max(word, Ordering::AcqRel);
        self.0.changed.notify_waiters();
    }

    fn given(&self) -> u8 {
        let given = self.0.given.load(Ordering::Acquire);
        let is_token_cancelled = self.0.token.as_ref().is_some_and(CancellationToken::is_cancelled);
        if is_token_cancelled { given.max(WITH_GRACE) } else { given }
    }

    async fn reached(&self, word: u8) {
        loop {
            // Register the waiter before reading the value, so that no change is missed in between.
            let changed = self.0.changed.notified();
            if self.given() >= word {
                return;
            }
            match &self.0.token {
                Some(token) if !token.is_cancelled() => {
                    tokio::select! {
                        () = changed => {}
                        () = token.cancelled() => {}
                    }
                }
                // A token says nothing more after it was cancelled.
                Some(_) | None => changed.await,
            }
        }
    }
}

impl From<CancellationToken> for Cancellation {
    /// Makes a cancellation that is given when the token is cancelled. Giving it does not cancel the token.
    fn from(token: CancellationToken) -> Self {
        Self(Arc::new(CancellationState { token: Some(token), ..CancellationState::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_cancels_with_grace() {
        let token = CancellationToken::new();
        let cancellation = Cancellation::from(token.clone());
        assert!(!cancellation.is_cancelled());
        let (waits, follows) = (cancellation.clone(), Cancellation::new());
        let cancels = async {
            tokio::task::yield_now().await;
            token.cancel();
        };
        tokio::join!(waits.cancelled(), cancels);
        assert!(cancellation.is_cancelled() && !cancellation.is_at_once());
        // The grace can still be ended.
        let ends = async {
            follows.cancelled().await;
            assert!(!follows.is_at_once());
            cancellation.cancel_at_once();
        };
        tokio::join!(follows.follow(&cancellation), ends);
        assert!(follows.is_at_once());
    }

    #[test]
    fn a_cancellation_does_not_cancel_its_token() {
        let token = CancellationToken::new();
        let cancellation = Cancellation::from(token.clone());
        cancellation.cancel();
        assert!(cancellation.is_cancelled() && !token.is_cancelled());
    }
}
