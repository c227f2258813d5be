//! What the grants of each kind do in a call. Each kind is a file in this folder, which implements [`GrantKind`]. Only
//! this file names all kinds.

use super::reach::Reach;
use crate::call::approved::ApprovedCall;
use crate::call::record::CallRecord;
use crate::call::rejection::Rejection;
use crate::catalog::Tool;
use crate::grants::Grant;
use crate::inject::{CallFacts, CallInjection};
use crate::inner::HostState;
use crate::request::Request;
use crate::valid_call::ValidCall;
use portcullis_policy::{Binding, DependencyKey, Pointer};
use portcullis_sandbox::Handles;
use std::cell::OnceCell;

/// What one grant does in a call.
pub(super) trait GrantKind {
    /// Declares a key with the handle that the call gets: the grant, limited to the tool's permissions and narrowed to
    /// what the arguments name.
    fn declare(&self, key: &DependencyKey, call: &GrantingCall<'_>, handles: &mut Handles) -> Result<(), Rejection>;

    /// Returns what a tool can reach with the grant.
    fn reach(&self, tool: &Tool) -> Reach;

    /// Refuses a call that cannot get the handle, even after an approval. By default every call can get it.
    fn check(&self, _key: &DependencyKey, _call: &ValidCall) -> Result<(), Rejection> {
        Ok(())
    }

    /// Refuses a call that needs approval if no answer could let it use the handle. By default an answer could.
    fn check_answerable(&self, _key: &DependencyKey, _call: &ValidCall) -> Result<(), Rejection> {
        Ok(())
    }

    /// Describes the grant for people, limited to the tool's permissions. By default the tool gets all of it.
    fn describe(&self, binding: &Binding, _tool: &Tool) -> String {
        binding.describe()
    }

    /// Describes how arguments that are not known yet narrow the grant. By default the description includes it.
    fn describe_narrowing(&self, _pointer: &Pointer) -> String {
        String::new()
    }

    /// Describes the grant for the binding of an approval. By default this is the description of its binding.
    fn describe_bound(&self, binding: Option<&Binding>, _tool: &Tool) -> Option<String> {
        binding.map(Binding::describe)
    }
}

impl Grant {
    pub(super) fn as_kind(&self) -> &dyn GrantKind {
        match self {
            Self::Directory(directory) => directory,
            Self::Client(client) => client,
            Self::Store(store) => store,
            Self::Service(service) => service,
            Self::Program(program) => &**program,
            Self::Tools(tools) => tools,
            Self::Address(address) => &**address,
        }
    }
}

/// An approved call while its handles are created.
pub(super) struct GrantingCall<'a> {
    pub(super) host: &'a HostState,
    pub(super) request: &'a Request,
    pub(super) approved: &'a ApprovedCall,
    record: &'a CallRecord,
    injection: OnceCell<CallInjection>,
}

impl<'a> GrantingCall<'a> {
    pub(super) fn new(
        host: &'a HostState,
        request: &'a Request,
        record: &'a CallRecord,
        approved: &'a ApprovedCall,
    ) -> Self {
        Self { host, request, approved, record, injection: OnceCell::new() }
    }

    /// Returns the injection that all services of the call share. It begins with the first service.
    pub(super) fn injection(&self) -> &CallInjection {
        self.injection.get_or_init(|| {
            let facts = CallFacts::new(self.record.id(), self.request, &self.approved.call);
            let injection = self.host.injection.begin(facts, &self.request.overrides);
            self.record.uses(injection.uses().clone());
            injection
        })
    }
}
