//! Programs in a call.

use super::directory::permitted;
use super::given::given;
use super::kind::{GrantKind, GrantingCall};
use super::reach::Reach;
use crate::call::rejection::Rejection;
use crate::catalog::Tool;
use crate::grants::{BoundDirectory, BoundProgram, Grant};
use crate::reply::Code;
use crate::text::WithCauses;
use crate::valid_call::ValidCall;
use portcullis_policy::{Access, Binding, DependencyKey, DependencyKind};
use portcullis_sandbox::{Client, Handles, Program};
use std::sync::Arc;

impl GrantKind for BoundProgram {
    fn declare(&self, key: &DependencyKey, call: &GrantingCall<'_>, handles: &mut Handles) -> Result<(), Rejection> {
        if self.server.is_some() {
            // Only the host uses it.
            return Ok(());
        }
        let valid = &call.approved.call;
        let Some(Binding::Process(binding)) = valid.policy.policy.bindings(&valid.plugin.name).get(key) else {
            handles.program_key(Arc::from(key.as_str()), None);
            return Ok(());
        };
        let directories = self.directories_of(&valid.tool);
        let directories = directories.map(|(key, bound)| (key.to_string(), permitted(bound, &valid.tool)));
        let client = self.client_of(&valid.tool).map(|(_, client)| client.clone());
        let setup = self.setup(key, binding, directories, client);
        handles.program_key(Arc::from(key.as_str()), Some(Program::new(setup)));
        Ok(())
    }

    fn reach(&self, tool: &Tool) -> Reach {
        let mut directories = self.directories_of(tool);
        let writes = directories.any(|(_, bound)| self.access(bound, tool) == Access::ReadWrite);
        let network = self.client_of(tool).map(|(_, client)| client.reach(tool));
        Reach { writes: writes || network.is_some_and(|reach| reach.writes), leaves: network.is_some() }
    }

    fn describe(&self, binding: &Binding, tool: &Tool) -> String {
        let Binding::Process(binding) = binding else { return binding.describe() };
        let directory = |(_, bound): &(DependencyKey, BoundDirectory)| {
            format!("{} access to {}", self.access(bound, tool), bound.place)
        };
        let directories: Vec<String> = self.directories_of(tool).map(directory).collect();
        let directories = (!directories.is_empty()).then(|| directories.join(" and "));
        let network = self
            .client_of(tool)
            .map(|(key, client)| format!("network through {key} ({})", client.binding().described()));
        binding.describe_with(directories.as_deref(), network.as_deref()).join(", ")
    }

    fn describe_bound(&self, binding: Option<&Binding>, tool: &Tool) -> Option<String> {
        let package = self.server.as_ref().and_then(|server| server.package.as_ref());
        let package = package.map(|package| format!(", package {}", package.tree_hash())).unwrap_or_default();
        Some(format!("{}, SHA-256 {}{package}", self.describe(binding?, tool), self.file().sha256()))
    }
}

impl BoundProgram {
    /// Returns the directories that the program sees when this tool starts it. A tool that cannot read or write files
    /// cannot do so by a program.
    fn directories_of(&self, tool: &Tool) -> impl Iterator<Item = &(DependencyKey, BoundDirectory)> {
        let reached = self.server.is_some() || DependencyKind::Directory.is_reached_by(tool.permissions());
        self.directories.iter().filter(move |_| reached)
    }

    /// Returns the client of the program when this tool starts it. A tool that cannot use the network cannot do so by a
    /// program.
    fn client_of(&self, tool: &Tool) -> Option<&(DependencyKey, Client)> {
        let reached = self.server.is_some() || DependencyKind::Http.is_reached_by(tool.permissions());
        self.client.as_ref().filter(|_| reached)
    }

    /// Returns the access that the program has to one of its directories. A server runs for all of its tools, so it has
    /// all that the policy binds.
    fn access(&self, bound: &BoundDirectory, tool: &Tool) -> Access {
        if self.server.is_some() { bound.directory.access() } else { permitted(bound, tool).access() }
    }
}

/// Identifies the programs of a call again, if their files have changed.
pub(in crate::call) async fn refresh_programs(call: &Arc<ValidCall>) -> Result<(), Rejection> {
    if programs(call).all(|(_, program)| program.file().is_current()) {
        return Ok(());
    }
    // Hashing a changed file takes too long for an async worker.
    let call = Arc::clone(call);
    let identify = move || {
        programs(&call).try_for_each(|(key, program)| {
            program.refresh().map_err(|error| {
                let why = WithCauses(&error);
                Rejection::new(Code::DependencyNotGranted, format!("The program `{key}` cannot be used: {why}."))
            })
        })
    };
    let stopped = |_| Rejection::new(Code::HostPanic, "The host stops.");
    tokio::task::spawn_blocking(identify).await.map_err(stopped)?
}

/// Returns why a call needs approval by its grants: one of its programs is no longer the file that the host opened.
pub(in crate::call) fn replaced_program(call: &ValidCall) -> Option<String> {
    let (key, _) = programs(call).find(|(_, program)| program.is_replaced())?;
    Some(format!("the file of the program `{key}` was replaced since the host opened it"))
}

fn programs(call: &ValidCall) -> impl Iterator<Item = (&DependencyKey, &BoundProgram)> {
    call.plugin.dependencies.iter().filter_map(|(key, asked)| {
        let Grant::Program(program) = given(&call.plugin, &call.tool, key, asked.kind)? else { return None };
        Some((key, &**program))
    })
}
