//! The same calls through the whole host, including the audit log.

use crate::policies;
use anyhow::{Result, ensure};
use portcullis::state::StatePlace;
use portcullis::{Compiler, Host, HostBuilder, Outcome, Request};
use std::path::Path;
use tokio::runtime::Runtime;

/// Run slots of a host for many calls. One principal gets all but one in eight, and one plugin all but one in eight of
/// those.
const MANY_SLOTS: u32 = 128;

/// An open host.
pub(crate) struct Governed {
    runtime: Runtime,
    host: Host,
}

impl Governed {
    /// Opens a host with the simplest policy and an empty ledger.
    pub(crate) fn plain(plugins: &Path, scratch: &Path) -> Result<Self> {
        let opening = Host::builder(plugins, scratch.join("state")).compiler(Compiler::InProcess);
        Self::open(runtime()?, opening.policy_text(policies::PLAIN, scratch))
    }

    /// Opens a host with the simplest policy and its state in this place.
    pub(crate) fn at(plugins: &Path, scratch: &Path, state: StatePlace) -> Result<Self> {
        let opening = Host::builder(plugins, state).compiler(Compiler::InProcess);
        Self::open(runtime()?, opening.policy_text(policies::PLAIN, scratch))
    }

    /// Returns the host.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Opens a host with many run slots and so many workers, whose calls may wait for long.
    pub(crate) fn roomy(plugins: &Path, scratch: &Path, workers: usize) -> Result<Self> {
        let opening = Host::builder(plugins, scratch.join("roomy-state")).compiler(Compiler::InProcess);
        Self::open(runtime_of(workers)?, opening.calls(MANY_SLOTS).policy_text(policies::PATIENT, scratch))
    }

    /// Opens a host with so many workers and a short time limit, so that slow calls can fill the run slots.
    pub(crate) fn flooded(plugins: &Path, scratch: &Path, workers: usize) -> Result<Self> {
        let state = scratch.join(format!("flooded-state-{workers}"));
        let opening = Host::builder(plugins, state).compiler(Compiler::InProcess);
        Self::open(runtime_of(workers)?, opening.policy_text(policies::FLOODED, scratch))
    }

    /// Opens a host with the simplest policy, whose directory is narrowed to the path of each call.
    pub(crate) fn narrowed(plugins: &Path, scratch: &Path) -> Result<Self> {
        let opening = Host::builder(plugins, scratch.join("narrowed-state")).compiler(Compiler::InProcess);
        Self::open(runtime()?, opening.policy_text(&policies::narrowed(), scratch))
    }

    /// Opens a host whose plugin `shell` runs programs.
    pub(crate) fn with_programs(plugins: &Path, scratch: &Path) -> Result<Self> {
        let opening = Host::builder(plugins, scratch.join("program-state")).compiler(Compiler::InProcess);
        Self::open(runtime()?, opening.policy_text(policies::PROGRAMS, scratch))
    }

    /// Opens a host whose plugin `relay` calls other tools.
    pub(crate) fn composing(plugins: &Path, scratch: &Path) -> Result<Self> {
        let opening = Host::builder(plugins, scratch.join("composing-state")).compiler(Compiler::InProcess);
        Self::open(runtime()?, opening.policy_text(policies::COMPOSING, scratch))
    }

    /// Opens a host with a three-layer policy and a ledger, both as full as they get in practice.
    pub(crate) fn full(plugins: &Path, scratch: &Path) -> Result<Self> {
        let (runtime, state) = (runtime()?, scratch.join("full-state"));
        runtime.block_on(policies::fill_ledger(plugins, &state, scratch))?;
        let project = scratch.join("project.toml");
        std::fs::write(&project, policies::PROJECT)?;
        let opening = Host::builder(plugins, state).compiler(Compiler::InProcess);
        Self::open(runtime, opening.policy_text(&policies::full(), scratch).project_policy(project))
    }

    fn open(runtime: Runtime, opening: HostBuilder) -> Result<Self> {
        let host = runtime.block_on(opening.open())?;
        if let [refused, ..] = host.catalog().refused() {
            anyhow::bail!("{}: {}", refused.file, refused.error);
        }
        Ok(Self { runtime, host })
    }

    /// Runs `work` in the host's runtime.
    pub(crate) fn within<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Makes one call.
    pub(crate) async fn call(&self, tool: &str, arguments: &str, outcome: Outcome) -> Result<()> {
        let reply = self.host.call(Request::new(tool, arguments)).await;
        ensure!(reply.outcome() == outcome, "{}: {}", reply.code, reply.message);
        Ok(())
    }
}

fn runtime() -> Result<Runtime> {
    runtime_of(1)
}

/// Returns a runtime with so many workers.
pub(crate) fn runtime_of(workers: usize) -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?)
}
