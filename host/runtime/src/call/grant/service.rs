//! Services in a call.

use super::kind::{GrantKind, GrantingCall};
use super::reach::Reach;
use crate::call::rejection::Rejection;
use crate::catalog::Tool;
use portcullis_policy::{DependencyKey, ServiceBinding};
use portcullis_sandbox::Handles;
use std::sync::Arc;

impl GrantKind for ServiceBinding {
    fn declare(&self, key: &DependencyKey, call: &GrantingCall<'_>, handles: &mut Handles) -> Result<(), Rejection> {
        let service = call.injection().grant(key, self, &call.approved.limits);
        handles.service_key(Arc::from(key.as_str()), service);
        Ok(())
    }

    fn reach(&self, _tool: &Tool) -> Reach {
        // A service is the application's own code, which nothing limits.
        Reach { writes: true, leaves: true }
    }
}
