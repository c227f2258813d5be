//! The call of one case, made many times to measure it: its host, its requests, and the directories that it changes.

use super::case::TestCase;
use super::file::LocatedCase;
use super::scratch::{self, Scratch};
use super::world::{ArrangedCase, RefusedComponent, World};
use anyhow::{Context as _, ensure};
use portcullis::plugins::Observer;
use portcullis::policy::PluginName;
use portcullis::{CALLS_DEFAULT, Compiler, Host, Request};
use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The plugin directory of a host that is open before the component is in it.
const LOADED_LATER: &str = "loaded-later";

/// The file of the case's policy, for other processes.
const POLICY: &str = "policy.toml";

/// Maximum calls of one measurement that uses a server. A policy allows at most 10,000 requests per minute, and a call
/// may make several.
const SERVED_CALLS_MAX: usize = 2_000;

/// Prepares the cases of one component to be repeated. Their hosts run as many concurrent calls as hosts do by default.
pub struct RepeatedCases {
    world: World,
}

impl RepeatedCases {
    /// Creates the environment for a component under its plugin's name. Cases can use files of the project only.
    ///
    /// # Errors
    /// [`RefusedComponent`] if the host refuses the component. Otherwise, the temporary files cannot be created, or the
    /// host cannot open.
    pub async fn open(
        plugin: PluginName,
        component: Vec<u8>,
        project: &Path,
        compiler: Compiler,
        observer: Arc<dyn Observer>,
    ) -> anyhow::Result<Self> {
        Ok(Self { world: World::open(plugin, component, project, compiler, observer, CALLS_DEFAULT).await? })
    }

    /// Creates the directories and servers of a case, and opens a host that grants them. The host does not have the
    /// component yet.
    ///
    /// # Errors
    /// The case cannot be set up.
    pub async fn prepare<'a>(&'a mut self, located: &'a LocatedCase) -> anyhow::Result<RepeatedCase<'a>> {
        let ArrangedCase { case, policy, .. } = self.world.arrange(located).await?;
        ensure!(located.is_repeatable(), "the case is not a single call that completes without an approver");
        let (state, other_state) = (self.world.begin_state()?, self.world.begin_state()?);
        let plugins = self.world.temporary(LOADED_LATER);
        scratch::empty(&plugins)?;
        fs::write(self.world.temporary(POLICY), &policy)?;
        let host = self.world.open_host_of(&plugins, &policy, &state.path("")).await?;
        Ok(RepeatedCase { host, case, file: &located.file, world: &self.world, _state: state, other_state })
    }
}

/// A case whose call is made many times.
pub struct RepeatedCase<'a> {
    host: Host,
    case: Cow<'a, TestCase>,
    file: &'a Path,
    world: &'a World,
    /// The state directory of the host, and the one for other processes. They are removed after the host is dropped.
    _state: Scratch,
    other_state: Scratch,
}

/// Where another process finds what the call needs.
pub struct CasePlaces {
    /// The plugin directory.
    pub plugins: PathBuf,
    /// A state directory of its own, with compiled code.
    pub state: PathBuf,
    /// The file of the policy.
    pub policy: PathBuf,
}

impl RepeatedCase<'_> {
    /// Returns the host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Puts the component into the plugin directory of the host, and loads it.
    ///
    /// # Errors
    /// [`RefusedComponent`] if the host refuses the component. Otherwise, the files cannot be read.
    pub async fn load(&self) -> anyhow::Result<()> {
        let file = format!("{}.wasm", self.world.plugin);
        let target = self.world.temporary(LOADED_LATER).join(&file);
        fs::copy(self.world.plugins().join(&file), &target).with_context(|| target.display().to_string())?;
        self.host.reload().await?;
        match self.host.catalog().refused().first() {
            Some(refused) => Err(RefusedComponent(Arc::clone(&refused.error)).into()),
            None => Ok(()),
        }
    }

    /// Returns the template of the call's requests.
    ///
    /// # Errors
    /// The case makes no call.
    pub fn template(&self) -> anyhow::Result<CallTemplate> {
        let step = self.case.steps.first().context("the case makes no call")?;
        Ok(CallTemplate {
            tool: step.full_name(&self.world.plugin),
            arguments: step.sent_arguments(),
            request: step.request(&self.world.plugin),
            has_store: !self.case.grants.store.is_empty(),
        })
    }

    /// Returns the places of the same plugin, grants and servers for another process.
    pub fn places(&self) -> CasePlaces {
        let (plugins, policy) = (self.world.plugins(), self.world.temporary(POLICY));
        CasePlaces { plugins, state: self.other_state.path(""), policy }
    }

    /// Returns the maximum number of calls of one measurement.
    pub fn calls_max(&self) -> usize {
        if self.case.grants.http.is_empty() { usize::MAX } else { SERVED_CALLS_MAX }
    }

    /// Gives the directories that the call can change their first content again.
    ///
    /// # Errors
    /// They cannot be filled.
    pub async fn renew(&self) -> anyhow::Result<()> {
        if self.case.writes_directories() {
            self.world.fill_directories(&self.case, self.file).await?;
        }
        Ok(())
    }
}

/// Makes the requests of a call.
#[derive(Clone, Debug)]
pub struct CallTemplate {
    /// The tool's full name.
    pub tool: String,
    /// The arguments.
    pub arguments: String,
    request: Request,
    has_store: bool,
}

impl CallTemplate {
    /// Returns a request in the session of a caller. If the call uses a store, each request has a session of its own,
    /// so that the store is empty.
    pub fn request(&self, caller: usize, number: usize) -> Request {
        let session = if self.has_store { format!("bench-{caller}-{number}") } else { format!("bench-{caller}") };
        self.request.clone().session(&session)
    }
}
