//! The address of an MCP server in a call. A call gets no handle for it, because only the host connects to it.

use super::kind::{GrantKind, GrantingCall};
use super::reach::Reach;
use crate::call::rejection::Rejection;
use crate::catalog::Tool;
use crate::grants::BoundAddress;
use portcullis_policy::DependencyKey;
use portcullis_sandbox::Handles;

impl GrantKind for BoundAddress {
    fn declare(&self, _: &DependencyKey, _: &GrantingCall<'_>, _: &mut Handles) -> Result<(), Rejection> {
        Ok(())
    }

    fn reach(&self, _: &Tool) -> Reach {
        Reach { writes: true, leaves: true }
    }
}
