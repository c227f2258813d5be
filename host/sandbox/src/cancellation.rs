//! A caller's word that an answer is no longer wanted. Cheap to clone; once given it stays given.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Asks a running call to end. The guest sees it at once through `is-cancelled`; a guest that goes on is stopped
/// after a grace period, or at once where the caller grants none.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// One of the three below; it only ever rises.
    given: AtomicU8,
    changed: Notify,
    /// A token of the embedder. When it is cancelled, this is cancelled with grace.
    token: Option<CancellationToken>,
}

const NOT_GIVEN: u8 = 0;
const WITH_GRACE: u8 = 1;
const AT_ONCE: u8 = 2;

impl Cancellation {
    /// A cancellation that nobody has given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels. Doing it twice is doing it once.
    pub fn cancel(&self) {
        self.give(WITH_GRACE);
    }

    /// Cancels without grace: a guest that waits is stopped at once, one that computes at the next tick of its clock.
    /// After [`Cancellation::cancel`] this ends the grace.
    pub fn cancel_at_once(&self) {
        self.give(AT_ONCE);
    }

    /// Whether it was given.
    pub fn is_cancelled(&self) -> bool {
        self.given() > NOT_GIVEN
    }

    /// Whether it was given without grace.
    pub(crate) fn is_at_once(&self) -> bool {
        self.given() == AT_ONCE
    }

    /// Waits until it is given.
    pub async fn cancelled(&self) {
        self.reached(WITH_GRACE).await;
    }

    /// Gives the same word as `other`, when that is given. Returns when nothing more can follow.
    pub async fn follow(&self, other: &Self) {
        for word in [WITH_GRACE, AT_ONCE] {
            other.reached(word).await;
            self.give(other.given());
        }
    }

    /// Waits until it is given without grace.
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
            // The waiter is registered before the word is read, so that none falls between the two.
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
        Self(Arc::new(Inner { token: Some(token), ..Inner::default() }))
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
