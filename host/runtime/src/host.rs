//! The host: what an embedder asks what there is, and calls.

use crate::approver::Approver;
use crate::audit::AuditLog;
use crate::call::{self, Bound, Rejection};
use crate::catalog::{Catalog, Loader, Plugin, Tool};
use crate::explain::Explained;
use crate::open::{HostBuilder, OpenError};
use crate::places::State;
use crate::reply::{CallUsage, Code, Reply};
use crate::request::Request;
use portcullis_policy::Policy;
use portcullis_sandbox::{Code as PluginCode, Compiler, Footprint, Progress};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Hears of the progress of calls.
pub trait ProgressListener: Send + Sync + 'static {
    /// A tool reported progress. Its texts are the tool's words.
    fn report(&self, call: &str, progress: &Progress);
}

/// A host. Clones share it.
#[derive(Clone)]
pub struct Host(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) catalog: Catalog,
    pub(crate) policy: Policy,
    pub(crate) policy_sha256: String,
    pub(crate) bound: Bound,
    pub(crate) loader: Loader,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) progress: Arc<dyn ProgressListener>,
    pub(crate) places: Arc<Semaphore>,
    /// Places for reviews, which run beside the calls.
    pub(crate) reviews: Semaphore,
    /// The largest arguments any plugin may take: what is looked at before the tool is known.
    pub(crate) arguments_bytes_max: usize,
}

impl Host {
    /// Begins a host for the plugins of a directory, keeping its key, cache and record in another. Its policy denies
    /// everything, nobody is there to approve, and plugins are compiled by `compiler`.
    pub fn builder(plugins: impl Into<PathBuf>, state: impl Into<PathBuf>, compiler: Compiler) -> HostBuilder {
        HostBuilder::new(plugins.into(), state.into(), compiler)
    }

    /// Runs one call: parse, validate, authorize, grant, instantiate, execute, shape, record. There is always a
    /// reply. Dropping the future ends the call at once, and records it as cancelled.
    pub async fn call(&self, request: Request) -> Reply {
        call::call(&self.0, request).await
    }

    /// What would happen to a call now. Runs nothing, asks nobody, records nothing.
    ///
    /// # Errors
    /// The reply that the call would get before it came to a decision.
    pub fn explain(&self, request: Request) -> Result<Explained, Box<Reply>> {
        match call::explain(&self.0, &request) {
            Ok(call) => Ok(Explained::of(&self.0, &call)),
            Err(rejection) => Err(Box::new(unrecorded(request, rejection))),
        }
    }

    /// The plugins, loaded and refused.
    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// The handles that a call of each tool of a plugin would get, for people.
    pub fn handles(&self, plugin: &Plugin) -> Vec<(String, Vec<String>)> {
        let lines = |tool| call::describe_handles(&self.0, plugin, tool);
        plugin.tools().map(|tool| (tool.name().to_string(), lines(tool))).collect()
    }

    /// The keys that a call of a tool cannot do without and that the policy does not grant: such a call is denied.
    pub fn missing_grants(&self, plugin: &Plugin, tool: &Tool) -> Vec<String> {
        call::missing_keys(&self.0, plugin, tool).map(|(key, _)| key.to_string()).collect()
    }

    /// The record.
    pub fn audit(&self) -> &AuditLog {
        &self.0.audit
    }

    /// The most memory that calls can make this process hold.
    pub fn footprint(&self) -> Footprint {
        self.0.loader.engine.footprint()
    }
}

/// Opens the record of a state directory alone, to read it.
///
/// # Errors
/// The state directory or the record cannot be opened.
pub fn open_audit(state: &Path) -> Result<AuditLog, OpenError> {
    let state = State::open(state)?;
    Ok(AuditLog::open(&state.directory, &state.key)?)
}

impl Inner {
    /// The code of a plugin, mapped on first use.
    pub(crate) async fn code<'a>(&self, plugin: &'a Plugin) -> Result<&'a PluginCode, Rejection> {
        self.loader.code(plugin).await.map_err(|error| {
            let message = format!("The plugin {} cannot be used any more.", plugin.name);
            Rejection::new(Code::PluginRefused, message).with_detail(error.to_string())
        })
    }
}

/// The reply of a call that was only thought through.
fn unrecorded(request: Request, rejection: Rejection) -> Reply {
    Reply {
        id: String::new(),
        tool: request.tool,
        code: rejection.code,
        output: None,
        title: None,
        metadata: None,
        message: rejection.message,
        usage: CallUsage::default(),
    }
}
