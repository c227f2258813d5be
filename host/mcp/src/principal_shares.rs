//! A limit for all principals together, of which no principal can take more than its share.

use portcullis::policy::Principal;
use portcullis::policy::recovery::RecoverMutex;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Permits for all principals, and the shares of those that use some.
#[derive(Debug)]
pub(crate) struct PrincipalShares {
    all: Arc<Semaphore>,
    /// Maximum permits of one principal.
    share: usize,
    /// The shares that a permit or a waiting request keeps alive.
    shares: Mutex<HashMap<Principal, Weak<Semaphore>>>,
}

/// Permits of one principal. Dropping them returns them.
#[derive(Debug)]
pub(crate) struct SharePermits {
    of_share: OwnedSemaphorePermit,
    of_all: OwnedSemaphorePermit,
}

impl PrincipalShares {
    /// Creates `all` permits, of which each principal can have `share`.
    pub(crate) fn new(all: usize, share: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), share, shares: Mutex::default() }
    }

    /// Waits until a principal can have these permits, and acquires them. A number above its share waits forever.
    ///
    /// # Errors
    /// None occurs, because no semaphore is ever closed.
    pub(crate) async fn acquire(&self, principal: &Principal, permits: u32) -> Result<SharePermits, AcquireError> {
        // The share first: while a request waits for it, it holds nothing that another principal waits for.
        let of_share = self.share_of(principal).acquire_many_owned(permits).await?;
        let of_all = Arc::clone(&self.all).acquire_many_owned(permits).await?;
        Ok(SharePermits { of_share, of_all })
    }

    /// Acquires one permit, if the principal can have it at once.
    pub(crate) fn try_acquire(&self, principal: &Principal) -> Option<SharePermits> {
        let of_share = self.share_of(principal).try_acquire_owned().ok()?;
        let of_all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(SharePermits { of_share, of_all })
    }

    fn share_of(&self, principal: &Principal) -> Arc<Semaphore> {
        let mut shares = self.shares.lock_recovered();
        if let Some(share) = shares.get(principal).and_then(Weak::upgrade) {
            return share;
        }
        // A share that nothing keeps alive has all its permits, so a new one is the same.
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(principal.clone(), Arc::downgrade(&share));
        share
    }
}

impl SharePermits {
    /// Returns all permits but this many.
    pub(crate) fn keep(&mut self, permits: usize) {
        for held in [&mut self.of_share, &mut self.of_all] {
            let surplus = held.num_permits().saturating_sub(permits);
            drop(held.split(surplus));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// Polls a future once.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    fn shares(all: usize, share: usize) -> (PrincipalShares, Principal, Principal) {
        (PrincipalShares::new(all, share), "a".parse().unwrap(), "b".parse().unwrap())
    }

    #[test]
    fn a_principal_gets_its_share_and_leaves_the_rest_to_others() {
        let (shares, a, b) = shares(10, 6);
        let held = now(shares.acquire(&a, 6)).unwrap().unwrap();
        assert!(now(shares.acquire(&a, 1)).is_none(), "more than its share");
        let _others = now(shares.acquire(&b, 4)).unwrap().unwrap();
        assert!(now(shares.acquire(&b, 1)).is_none(), "more than all permits");
        drop(held);
        assert!(now(shares.acquire(&a, 6)).is_some());
    }

    #[test]
    fn a_request_that_waits_for_its_share_holds_nothing_of_the_others() {
        let (shares, a, b) = shares(10, 6);
        let _held = now(shares.acquire(&a, 6)).unwrap().unwrap();
        let mut waiting = pin!(shares.acquire(&a, 4));
        assert!(now(waiting.as_mut()).is_none());
        assert!(now(shares.acquire(&b, 4)).is_some());
    }

    #[test]
    fn surplus_permits_are_returned_to_the_share_and_to_all() {
        let (shares, a, b) = shares(6, 6);
        let mut held = now(shares.acquire(&a, 6)).unwrap().unwrap();
        held.keep(1);
        for principal in [&a, &b] {
            assert!(now(shares.acquire(principal, 5)).is_some(), "{principal}");
            assert!(now(shares.acquire(principal, 6)).is_none(), "{principal}");
        }
    }

    #[test]
    fn shares_that_are_not_used_are_forgotten() {
        let (shares, a, _) = shares(10, 6);
        let _held = now(shares.acquire(&a, 1)).unwrap().unwrap();
        for number in 0..100 {
            assert!(now(shares.acquire(&format!("p{number}").parse().unwrap(), 1)).is_some());
        }
        assert!(shares.shares.lock_recovered().len() <= 2);
        assert!(now(shares.acquire(&a, 6)).is_none(), "the share with a permit in use was forgotten");
    }
}
