//! The approval requests that calls have left open, by the binding of the call.

use super::principal_map::PrincipalMap;
use portcullis_policy::recovery::RecoverMutex;
use std::sync::Mutex;

/// Approval requests that calls of this process have left open for their callers, by the binding of the call. With
/// them, a caller that makes a call again learns that it was denied.
#[derive(Default)]
pub(super) struct LeftRequests(Mutex<PrincipalMap<String, String>>);

impl LeftRequests {
    /// Remembers a request that its call has left.
    pub(super) fn put(&self, principal: &str, binding: String, id: String) {
        self.0.lock_recovered().insert(principal, binding, id);
    }

    /// Returns the request of a call with one of these bindings.
    pub(super) fn look(&self, principal: &str, bindings: &[String; 2]) -> Option<String> {
        let mut left = self.0.lock_recovered();
        bindings.iter().find_map(|binding| left.get(principal, binding).cloned())
    }

    /// Returns the request of a call with one of these bindings, and forgets both.
    pub(super) fn take(&self, principal: &str, bindings: &[String; 2]) -> Option<String> {
        let mut left = self.0.lock_recovered();
        let id = bindings.iter().find_map(|binding| left.get(principal, binding).cloned());
        bindings.iter().for_each(|binding| left.remove(principal, binding));
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_principal_does_not_remove_requests_of_another() {
        let left = LeftRequests::default();
        let bindings = |name: &str| [name.to_owned(), format!("{name} again")];
        left.put("alice", "call".to_owned(), "id".to_owned());
        for number in 0..10_000 {
            left.put("bob", number.to_string(), number.to_string());
        }
        assert_eq!(left.take("bob", &bindings("call")), None);
        assert_eq!(left.take("alice", &bindings("call")).as_deref(), Some("id"));
        assert_eq!(left.take("alice", &bindings("call")), None, "it is returned once");
    }
}
