//! Where a request comes from.

use portcullis_policy::{Caller, Principal};
use std::sync::Arc;

/// The origin of a request. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct RequestOrigin {
    pub(crate) session: Arc<str>,
    pub(crate) principal: Principal,
    /// Whether a schedule or a program started the session.
    pub(crate) automated: bool,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) agent: Option<Arc<str>>,
    /// The trace that the call belongs to.
    pub(crate) trace: Option<Arc<str>>,
}

impl RequestOrigin {
    /// Returns the caller for the policy.
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller { session: &self.session, principal: &self.principal, automated: self.automated }
    }
}
