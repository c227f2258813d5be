//! Stores in a call.

use super::given::given;
use super::kind::{GrantKind, GrantingCall};
use super::reach::Reach;
use crate::call::question;
use crate::call::rejection::Rejection;
use crate::catalog::Tool;
use crate::grants::Grant;
use crate::inner::HostState;
use crate::origin::RequestOrigin;
use crate::stores::StoreUsage;
use crate::valid_call::ValidCall;
use portcullis_policy::{Access, DependencyKey, Permission, StoreBinding};
use portcullis_sandbox::{Handles, Store};
use std::sync::Arc;

impl GrantKind for StoreBinding {
    fn declare(&self, key: &DependencyKey, call: &GrantingCall<'_>, handles: &mut Handles) -> Result<(), Rejection> {
        let valid = &call.approved.call;
        let usage = StoreUsage::Call(access(&valid.tool));
        let store = store(call.host, valid, &call.request.origin, (key, self), usage);
        handles.store_key(Arc::from(key.as_str()), Some(store));
        Ok(())
    }

    fn reach(&self, tool: &Tool) -> Reach {
        Reach { writes: access(tool) == Access::ReadWrite, leaves: false }
    }
}

/// Returns what a tool may do with its stores. A tool that declares `read` and not `write` only reads them, as it does
/// directories. A tool without either permission declares nothing about files, and its stores are its own.
fn access(tool: &Tool) -> Access {
    let permissions = tool.permissions();
    let only_reads = permissions.contains(Permission::Read) && !permissions.contains(Permission::Write);
    if only_reads { Access::ReadOnly } else { Access::ReadWrite }
}

/// Returns a store of a call, for the session and the principal of its caller.
fn store(
    host: &HostState,
    call: &ValidCall,
    origin: &RequestOrigin,
    (key, binding): (&DependencyKey, &StoreBinding),
    usage: StoreUsage,
) -> Arc<dyn Store> {
    let (session, principal) = (question::session(origin), origin.principal.to_string());
    host.stores.grant((&call.plugin.name, key), binding, usage, (&session, &principal))
}

/// Returns the stores of the call as read-only stores, for reviewers and hooks.
pub(in crate::call) fn stores_to_read<'a>(
    host: &'a HostState,
    call: &'a ValidCall,
    origin: &'a RequestOrigin,
) -> impl Iterator<Item = (&'a DependencyKey, Arc<dyn Store>)> {
    call.plugin.dependencies.iter().filter_map(move |(key, asked)| {
        let Grant::Store(binding) = given(&call.plugin, &call.tool, key, asked.kind)? else { return None };
        Some((key, store(host, call, origin, (key, binding), StoreUsage::Review)))
    })
}
