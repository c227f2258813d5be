//! The handles of a call, and the rejection if it cannot have them.

use super::directory::{check_writable, directories_to_read};
use super::given::given;
use super::kind::GrantingCall;
use super::store::stores_to_read;
use crate::call::approved::ApprovedCall;
use crate::call::record::CallRecord;
use crate::call::rejection::Rejection;
use crate::catalog::{Plugin, Tool};
use crate::grants::Grant;
use crate::inner::HostState;
use crate::inner_quota::{InnerQuota, QuotaPool};
use crate::origin::RequestOrigin;
use crate::reply::Code;
use crate::request::Request;
use crate::valid_call::ValidCall;
use portcullis_policy::{Access, DependencyKey, DependencyKind, ExampleBlank, Limits};
use portcullis_sandbox::{Handles, Surroundings};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The setting with the schema of a generated tool, as the operator accepted it. A plugin compares it with what it
/// would generate now.
const ACCEPTED_SCHEMA: &str = "portcullis:accepted-schema";

/// An approved call with its handles.
pub(crate) struct GrantedCall {
    pub(in crate::call) call: Arc<ValidCall>,
    pub(in crate::call) limits: Limits,
    pub(in crate::call) handles: Handles,
    /// What the call has taken from the quotas of the call that made it.
    pub(in crate::call) quota: Option<InnerQuota>,
    /// What the calls that it makes share of its own quotas.
    pub(in crate::call) inner_quotas: Arc<QuotaPool>,
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
        let granting = GrantingCall::new(host, request, record, &self);
        for (key, dependency) in &self.call.plugin.dependencies {
            match given(&self.call.plugin, &self.call.tool, key, dependency.kind) {
                Some(grant) => grant.as_kind().declare(key, &granting, &mut handles)?,
                None => handles.ungranted_key(Arc::from(key.as_str()), dependency.kind),
            }
        }
        let config = config(&self.call.plugin, &self.call.tool);
        handles.set_surroundings(Surroundings { config, ..surroundings(host, &self.call.plugin) });
        handles.set_secrets(Arc::clone(&self.call.plugin.grants.secrets));
        let (limits, quota) = match &request.parent {
            Some(parent) => {
                let (limits, quota) = parent.limited(self.limits);
                (limits, Some(quota))
            }
            None => (self.limits, None),
        };
        let inner_quotas = Arc::new(QuotaPool::new(&limits));
        Ok(GrantedCall { call: self.call, limits, handles, quota, inner_quotas })
    }
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
            None => named.ungranted_key(name, dependency.kind),
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
    for directory in directories_to_read(call) {
        let (key, directory) = directory?;
        handles.directory_key(Arc::from(key.as_str()), Some(directory));
    }
    Ok(handles)
}

fn surroundings(host: &HostState, plugin: &Plugin) -> Surroundings {
    Surroundings {
        config: Arc::clone(&plugin.grants.config),
        clock: plugin.grants.clock,
        time: host.time.clone(),
        seed: host.seed,
    }
}

/// Returns the settings of a call. The schema of a generated tool replaces a setting of that name.
fn config(plugin: &Plugin, tool: &Tool) -> Arc<BTreeMap<String, String>> {
    if !plugin.generates || plugin.manifest_tools.contains_key(&tool.name().tool) {
        return Arc::clone(&plugin.grants.config);
    }
    let mut config = BTreeMap::clone(&plugin.grants.config);
    config.insert(ACCEPTED_SCHEMA.to_owned(), tool.schema().document().to_string());
    Arc::new(config)
}

/// Returns the required keys that a call of this tool does not get.
pub(crate) fn missing_keys<'a>(
    plugin: &'a Plugin,
    tool: &'a Tool,
) -> impl Iterator<Item = (&'a DependencyKey, DependencyKind)> {
    plugin
        .dependencies
        .iter()
        .filter(|(_, dependency)| !dependency.optional && dependency.kind.is_reached_by(tool.permissions()))
        .filter(|(key, dependency)| given(plugin, tool, key, dependency.kind).is_none())
        .map(|(key, dependency)| (key, dependency.kind))
}

/// Refuses a call that cannot get its handles, even after an approval.
pub(in crate::call) fn check(call: &ValidCall) -> Result<(), Rejection> {
    check_keys(&call.plugin, &call.tool)?;
    granted(call).try_for_each(|(key, grant)| grant.as_kind().check(key, call))
}

/// Refuses a call that needs approval if no answer could let it do what it declares.
pub(in crate::call) fn check_answerable(call: &ValidCall) -> Result<(), Rejection> {
    check(call)?;
    check_writable(&call.plugin, &call.tool, call.tool.required())?;
    granted(call).try_for_each(|(key, grant)| grant.as_kind().check_answerable(key, call))
}

/// Returns what the policy binds and the tool's permissions reach, by key.
fn granted(call: &ValidCall) -> impl Iterator<Item = (&DependencyKey, &Grant)> {
    let dependencies = call.plugin.dependencies.iter();
    dependencies.filter_map(|(key, asked)| Some((key, given(&call.plugin, &call.tool, key, asked.kind)?)))
}

fn check_keys(plugin: &Plugin, tool: &Tool) -> Result<(), Rejection> {
    missing_keys(plugin, tool).next().map_or(Ok(()), |(key, kind)| Err(missing(plugin, key, kind)))
}

fn missing(plugin: &Plugin, key: &DependencyKey, kind: DependencyKind) -> Rejection {
    let message = format!(
        "The plugin {} needs {} `{key}`, which the policy does not grant. Ask the user to grant it in the policy.",
        plugin.name,
        kind.noun(),
    );
    let example = kind.example(key.as_str(), Access::ReadOnly, ExampleBlank::Dots);
    let remedy = format!("to grant it, set in the policy: [plugin.{}] {example}", plugin.name);
    Rejection::new(Code::DependencyNotGranted, message).with_detail(remedy)
}
