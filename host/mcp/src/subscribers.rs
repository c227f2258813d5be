//! Limits the number of subscribers to changes of the tool list.

use crate::principal_shares::{PrincipalShares, SharePermits};
use portcullis::policy::Principal;

/// Maximum subscribers of one server. Each costs a task, and clients that never disconnect must not exhaust the host.
const SUBSCRIBERS_MAX: usize = 1024;
/// Maximum subscribers of one principal: more than its sessions and streams over HTTP. A client can subscribe many
/// times in one session, and must not take the places of other principals.
const SUBSCRIBERS_PER_PRINCIPAL_MAX: usize = 256;

/// The subscribers of a server.
pub(crate) struct Subscribers {
    places: PrincipalShares,
}

impl Default for Subscribers {
    fn default() -> Self {
        Self { places: PrincipalShares::new(SUBSCRIBERS_MAX, SUBSCRIBERS_PER_PRINCIPAL_MAX) }
    }
}

impl Subscribers {
    /// Returns a place for a subscriber of this principal, if there is one.
    pub(crate) fn place(&self, principal: &Principal) -> Option<SharePermits> {
        self.places.try_acquire(principal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_principal_cannot_take_the_places_of_others() {
        let subscribers = Subscribers::default();
        let (a, b): (Principal, Principal) = ("a".parse().unwrap(), "b".parse().unwrap());
        let held: Vec<SharePermits> = std::iter::from_fn(|| subscribers.place(&a)).collect();
        assert_eq!(held.len(), SUBSCRIBERS_PER_PRINCIPAL_MAX);
        assert!(subscribers.place(&b).is_some());
        drop(held);
        assert!(subscribers.place(&a).is_some());
    }
}
