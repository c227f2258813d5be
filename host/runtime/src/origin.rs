//! Where a request comes from.

use portcullis_policy::{Caller, Principal};
use std::sync::Arc;

/// Where a request comes from. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) session: Arc<str>,
    pub(crate) principal: Principal,
    /// Whether a schedule or a program began the session.
    pub(crate) automated: bool,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) agent: Option<Arc<str>>,
    /// The trace it is part of.
    pub(crate) trace: Option<Arc<str>>,
}

impl Origin {
    /// The caller, as the policy knows it.
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller { session: &self.session, principal: &self.principal, automated: self.automated }
    }
}
