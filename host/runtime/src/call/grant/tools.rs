//! Other tools in a call.

use super::kind::{GrantKind, GrantingCall};
use super::reach::Reach;
use crate::call::rejection::Rejection;
use crate::catalog::Tool;
use portcullis_policy::{DependencyKey, ToolsBinding};
use portcullis_sandbox::Handles;
use std::sync::Arc;

impl GrantKind for ToolsBinding {
    fn declare(&self, key: &DependencyKey, _call: &GrantingCall<'_>, handles: &mut Handles) -> Result<(), Rejection> {
        handles.tools_key(Arc::from(key.as_str()));
        Ok(())
    }

    fn reach(&self, _tool: &Tool) -> Reach {
        // Each call is decided by itself, and the tools of a pattern can change.
        Reach { writes: true, leaves: true }
    }
}
