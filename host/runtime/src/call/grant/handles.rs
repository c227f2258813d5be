//! The handles of a call, and the rejection if it cannot have them.

use super::given::{given, noun, reaches};
use super::narrow;
use super::reach::{reach, store_access};
use crate::approvals::WritableDirectory;
use crate::call::approved::ApprovedCall;
use crate::call::question;
use crate::call::record::CallRecord;
use crate::call::rejection::Rejection;
use crate::call::valid_call::ValidCall;
use crate::catalog::{Plugin, Tool};
use crate::grants::{BoundDirectory, Grant};
use crate::inject::CallFacts;
use crate::inner::HostState;
use crate::origin::RequestOrigin;
use crate::reply::Code;
use crate::request::Request;
use crate::stores::StoreUsage;
use portcullis_definitions::manifest::DependencyKind;
use portcullis_policy::{Access, DependencyKey, Limits, Permission, Permissions, StoreBinding};
use portcullis_sandbox::{Client, Handles, Store, Surroundings};
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An approved call with its handles.
pub(crate) struct GrantedCall {
    pub(in crate::call) call: Arc<ValidCall>,
    pub(in crate::call) limits: Limits,
    pub(in crate::call) handles: Handles,
}

impl ApprovedCall {
    pub(in crate::call) fn grant(
        self,
        host: &HostState,
        request: &Request,
        record: &CallRecord,
    ) -> Result<GrantedCall, Rejection> {
        check_keys(&self.call.plugin, &self.call.tool)?;
        let mut handles = Handles::none();
        // All services of the call share one injection.
        let injection = LazyCell::new(|| {
            let facts = CallFacts::new(record.id(), request, &self.call);
            let injection = host.injection.begin(facts, &request.overrides);
            record.uses(injection.uses().clone());
            injection
        });
        for (key, dependency) in &self.call.plugin.dependencies {
            let name = Arc::from(key.as_str());
            match given(&self.call.plugin, &self.call.tool, key, dependency.kind) {
                Some(Grant::Service(binding)) => {
                    handles.service_key(name, injection.grant(key, binding, &self.limits));
                }
                grant => self.declare(host, request, &mut handles, (key, name, dependency.kind), grant)?,
            }
        }
        handles.set_surroundings(surroundings(host, &self.call.plugin));
        handles.set_secrets(Arc::clone(&self.call.plugin.grants.secrets));
        Ok(GrantedCall { call: self.call, limits: self.limits, handles })
    }

    /// Declares one key that is not a service, with its handle if the policy grants one.
    fn declare(
        &self,
        host: &HostState,
        request: &Request,
        handles: &mut Handles,
        (key, name, kind): (&DependencyKey, Arc<str>, DependencyKind),
        grant: Option<&Grant>,
    ) -> Result<(), Rejection> {
        match grant {
            Some(Grant::Directory(bound)) => {
                handles.directory_key(name, Some(narrow::directory(bound, key, &self.call)?));
            }
            Some(Grant::Client(bound)) => {
                let client = narrow::client(bound, key, &self.call, self.by_a_person)?;
                handles.client_key(name, Some(Arc::clone(bound.binding())), Some(client));
            }
            Some(Grant::Store(binding)) => {
                let usage = StoreUsage::Call(store_access(&self.call.tool));
                handles.store_key(name, Some(store(host, &self.call, &request.origin, (key, binding), usage)));
            }
            Some(Grant::Service(_)) | None => ungranted(handles, name, kind),
        }
        Ok(())
    }
}

/// Declares a key without a handle.
pub(crate) fn ungranted(handles: &mut Handles, name: Arc<str>, kind: DependencyKind) {
    match kind {
        DependencyKind::Directory => handles.directory_key(name, None),
        DependencyKind::Http => handles.client_key(name, None, None),
        DependencyKind::Store => handles.store_key(name, None),
        DependencyKind::Service => handles.service_key(name, None),
    }
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
        match given(&call.plugin, &call.tool, key, asked.kind)? {
            Grant::Store(binding) => Some((key, store(host, call, origin, (key, binding), StoreUsage::Review))),
            Grant::Directory(_) | Grant::Client(_) | Grant::Service(_) => None,
        }
    })
}

/// Returns the handles of a review: the call's stores as read-only stores, the settings, and the hosts that the policy
/// names.
pub(in crate::call) fn review_handles(host: &HostState, call: &ValidCall, origin: &RequestOrigin) -> Handles {
    let mut handles = named(host, &call.plugin);
    for (key, store) in stores_to_read(host, call, origin) {
        handles.store_key(Arc::from(key.as_str()), Some(store));
    }
    handles
}

/// Returns everything except handles: the settings, the surroundings, and the hosts that the policy names.
fn named(host: &HostState, plugin: &Plugin) -> Handles {
    let mut named = Handles::none();
    for (key, dependency) in &plugin.dependencies {
        let name = Arc::from(key.as_str());
        match plugin.grants.client(key) {
            Some(bound) => named.client_key(name, Some(Arc::clone(bound.binding())), None),
            None => ungranted(&mut named, name, dependency.kind),
        }
    }
    named.set_surroundings(surroundings(host, plugin));
    named.set_secrets(Arc::clone(&plugin.grants.secrets));
    named
}

/// Returns the handles of a preview: the call's directories as read-only directories, and the hosts that the policy
/// names.
pub(in crate::call) fn read_only_handles(host: &HostState, call: &ValidCall) -> Result<Handles, Rejection> {
    let mut handles = named(host, &call.plugin);
    for (key, bound) in directories(call) {
        let directory = narrow::directory(bound, key, call)?.read_only();
        handles.directory_key(Arc::from(key.as_str()), Some(directory));
    }
    Ok(handles)
}

/// Returns the directories that the call can write to, by key.
pub(in crate::call) fn writable_directories(
    call: &ValidCall,
) -> Result<BTreeMap<String, WritableDirectory>, Rejection> {
    let mut writable = BTreeMap::new();
    for (key, bound) in directories(call) {
        let directory = narrow::directory(bound, key, call)?;
        if directory.access() == Access::ReadWrite {
            writable.insert(key.to_string(), WritableDirectory { directory, place: bound.place.clone() });
        }
    }
    Ok(writable)
}

/// Returns the directories that the policy binds and that the tool's permissions reach.
fn directories(call: &ValidCall) -> impl Iterator<Item = (&DependencyKey, &BoundDirectory)> {
    call.plugin.dependencies.iter().filter_map(|(key, asked)| match given(&call.plugin, &call.tool, key, asked.kind)? {
        Grant::Directory(bound) => Some((key, bound)),
        Grant::Client(_) | Grant::Store(_) | Grant::Service(_) => None,
    })
}

fn surroundings(host: &HostState, plugin: &Plugin) -> Surroundings {
    Surroundings {
        config: Arc::clone(&plugin.grants.config),
        clock: plugin.grants.clock,
        time: host.time.clone(),
        seed: host.seed,
    }
}

/// Returns the required keys that a call of this tool does not get.
pub(crate) fn missing_keys<'a>(
    plugin: &'a Plugin,
    tool: &'a Tool,
) -> impl Iterator<Item = (&'a DependencyKey, DependencyKind)> {
    plugin
        .dependencies
        .iter()
        .filter(|(_, dependency)| !dependency.optional && reaches(dependency.kind, tool))
        .filter(|(key, dependency)| given(plugin, tool, key, dependency.kind).is_none())
        .map(|(key, dependency)| (key, dependency.kind))
}

/// Refuses a call that cannot get its handles, even after an approval.
pub(in crate::call) fn check(call: &ValidCall) -> Result<(), Rejection> {
    clients(call).map(drop)
}

/// Refuses a call that needs approval if no answer could let it do what it declares.
pub(in crate::call) fn check_answerable(call: &ValidCall) -> Result<(), Rejection> {
    let clients = clients(call)?;
    check_writable(&call.plugin, &call.tool, call.tool.required())?;
    for (key, client) in clients {
        client.check_reachable().map_err(|why| {
            let message = format!("Not run: no approval can let {} connect with `{key}`: {why}.", call.tool.name());
            Rejection::new(Code::DependencyNotGranted, message)
        })?;
    }
    Ok(())
}

/// Returns the clients that a call gets after an approval. Fails if the call cannot get one of its handles.
fn clients(call: &ValidCall) -> Result<Vec<(&DependencyKey, Client)>, Rejection> {
    check_keys(&call.plugin, &call.tool)?;
    let mut clients = Vec::new();
    for (key, dependency) in &call.plugin.dependencies {
        match given(&call.plugin, &call.tool, key, dependency.kind) {
            Some(Grant::Directory(bound)) => drop(narrow::directory(bound, key, call)?),
            Some(Grant::Client(bound)) => clients.push((key, narrow::client(bound, key, call, true)?)),
            Some(Grant::Store(_) | Grant::Service(_)) | None => {}
        }
    }
    Ok(clients)
}

/// Refuses a write that no handle of the tool allows, because its directories are granted read-only.
pub(in crate::call) fn check_writable(plugin: &Plugin, tool: &Tool, needed: Permissions) -> Result<(), Rejection> {
    match read_only_key(plugin, tool).filter(|_| needed.contains(Permission::Write)) {
        Some(key) => Err(read_only(plugin, tool, key)),
        None => Ok(()),
    }
}

/// Returns the key of a read-only directory, if the tool has one and nothing that it could write to.
pub(crate) fn read_only_key<'a>(plugin: &'a Plugin, tool: &Tool) -> Option<&'a DependencyKey> {
    if reach(plugin, tool).writes {
        return None;
    }
    let mut asked = plugin.dependencies.iter();
    let found = asked.find(|(key, asked)| matches!(given(plugin, tool, key, asked.kind), Some(Grant::Directory(_))));
    found.map(|(key, _)| key)
}

fn check_keys(plugin: &Plugin, tool: &Tool) -> Result<(), Rejection> {
    missing_keys(plugin, tool).next().map_or(Ok(()), |(key, kind)| Err(missing(plugin, key, kind)))
}

fn read_only(plugin: &Plugin, tool: &Tool, key: &DependencyKey) -> Rejection {
    let message = format!(
        "{} cannot write: the policy grants the directory `{key}` read-only, and no approval changes that. Ask the \
         user to change the policy.",
        tool.name()
    );
    let name = &plugin.name;
    let remedy =
        format!("to grant it, set in the policy: [plugin.{name}] directory.{key} = {{ ..., access = \"read-write\" }}");
    Rejection::new(Code::DependencyNotGranted, message).with_detail(remedy)
}

fn missing(plugin: &Plugin, key: &DependencyKey, kind: DependencyKind) -> Rejection {
    let message = format!(
        "The plugin {} needs {} `{key}`, which the policy does not grant. Ask the user to grant it in the policy.",
        plugin.name,
        noun(kind),
    );
    let example = match kind {
        DependencyKind::Directory => format!("directory.{key} = {{ path = \"...\", access = \"read-only\" }}"),
        DependencyKind::Http => format!("http.{key} = {{ hosts = [\"...\"] }}"),
        DependencyKind::Store => format!("store.{key} = {{}}"),
        DependencyKind::Service => format!("service.{key} = {{ name = \"...\" }}"),
    };
    let remedy = format!("to grant it, set in the policy: [plugin.{}] {example}", plugin.name);
    Rejection::new(Code::DependencyNotGranted, message).with_detail(remedy)
}
