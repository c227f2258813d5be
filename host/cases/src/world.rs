//! The environment of cases: the component, hosts with the grants of each case, and its directories and servers.

use super::case::{Scope, TestCase};
use super::compiled::{self, KeptCode};
use super::file::LocatedCase;
use super::fill::Fill;
use super::loopback::{Loopback, ServerRequest};
use super::policy::{self, Places};
use super::scratch::{self, Scratch};
use anyhow::{Context as _, ensure};
use portcullis::plugins::{LoadError, Observer};
use portcullis::policy::{DependencyKey, PluginName};
use portcullis::{Compiler, Host};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

/// The folders of the scratch directory.
const PLUGINS: &str = "plugins";
const STATE: &str = "state";
const GRANTS: &str = "grants";

/// Maximum number of open hosts. Cases with the same grants are mostly adjacent, and a host has a dozen open files.
const HOSTS_MAX: usize = 4;

/// Maximum number of servers to keep for later cases. A plugin has few clients, and each server takes a port.
const SERVERS_MAX: usize = 16;

/// Maximum cases per state directory. Each case that fails or expects a log reads the whole audit log.
const STATE_CASES_MAX: usize = 256;

/// The environment of all cases of a component.
pub(super) struct World {
    pub(super) plugin: PluginName,
    /// The project's folder. Cases cannot use files outside it.
    project: PathBuf,
    compiler: Compiler,
    observer: Arc<dyn Observer>,
    /// Maximum number of concurrent calls of each host.
    calls: u32,
    /// The hosts of the last few policies, the most recently used at the end. Cases with the same grants share a host,
    /// each with its own session.
    hosts: VecDeque<(String, Host)>,
    /// The state directory of these hosts, and how many cases have used it. `None` before the first case.
    state: Option<(Scratch, usize)>,
    servers: BTreeMap<DependencyKey, Loopback>,
    /// How many state directories were created.
    states: usize,
    // The last field, so that it is dropped after the hosts that use it.
    scratch: Scratch,
}

/// A case with its directories and servers, and the policy that grants them.
pub(super) struct ArrangedCase<'a> {
    pub(super) places: Places,
    pub(super) case: Cow<'a, TestCase>,
    pub(super) policy: String,
}

/// What one case runs with.
pub(super) struct Prepared<'a> {
    pub(super) host: Host,
    pub(super) places: Places,
    pub(super) case: Cow<'a, TestCase>,
    /// The state directory, if the case does not share one.
    _state: Option<Scratch>,
}

impl World {
    /// Creates the environment for a component under its plugin's name. Each host runs at most `calls` calls at a time.
    ///
    /// # Errors
    /// [`RefusedComponent`] if the host refuses the component. Otherwise, the temporary files cannot be created, or the
    /// host cannot open.
    pub(super) async fn open(
        plugin: PluginName,
        component: Vec<u8>,
        project: &Path,
        compiler: Compiler,
        observer: Arc<dyn Observer>,
        calls: u32,
    ) -> anyhow::Result<Self> {
        let project = project.canonicalize().with_context(|| project.display().to_string())?;
        let scratch = Scratch::new()?;
        scratch::empty(&scratch.path(PLUGINS))?;
        fs::write(scratch.path(PLUGINS).join(format!("{plugin}.wasm")), &component)?;
        let (compiled, state) = (KeptCode::of(&component), scratch.path(STATE));
        // The host reads the file itself, so free this copy before the component is compiled.
        drop(component);
        if let Some(compiled) = &compiled {
            compiled.adopt(&state);
        }
        let compiles = Arc::new(Compiles { heard: AtomicBool::new(false), observer });
        let observer = Arc::clone(&compiles) as Arc<dyn Observer>;
        let (hosts, servers) = (VecDeque::new(), BTreeMap::new());
        let world =
            Self { plugin, project, compiler, observer, calls, hosts, state: None, servers, states: 0, scratch };
        // Compile the component once, and fail before any case runs if the host refuses it.
        let host = world.open_host("", &state).await?;
        if let Some(compiled) = compiled.filter(|_| compiles.heard.load(Ordering::Relaxed)) {
            compiled.keep(&state);
        }
        match host.catalog().refused().first() {
            Some(refused) => Err(RefusedComponent(Arc::clone(&refused.error)).into()),
            None => Ok(world),
        }
    }

    /// Creates the directories and servers of a case, and the host that grants them.
    pub(super) async fn prepare<'a>(&mut self, located: &'a LocatedCase) -> anyhow::Result<Prepared<'a>> {
        let ArrangedCase { places, case, policy } = self.arrange(located).await?;
        let (host, state) = match case.grants.store.values().any(|scope| *scope == Scope::Plugin) {
            // All sessions share this store, so the case needs its own state.
            true => {
                let state = self.begin_state()?;
                (self.open_host(&policy, &state.path("")).await?, Some(state))
            }
            false => (self.shared_host(policy).await?, None),
        };
        Ok(Prepared { host, places, case, _state: state })
    }

    /// Creates the directories and servers of a case, and the policy that grants them.
    pub(super) async fn arrange<'a>(&mut self, located: &'a LocatedCase) -> anyhow::Result<ArrangedCase<'a>> {
        // The placeholders of the case stand for addresses, so the servers must run first.
        let servers = self.serve(&located.case).await.context("no server can be started")?;
        let case = located.filled(&Fill::of(&servers))?;
        for (key, http) in &case.grants.http {
            if let Some(server) = self.servers.get(key) {
                server.answer(&http.answers);
            }
        }
        let directories = self.fill_directories(&case, &located.file).await?;
        let places = Places { directories, servers };
        let policy = policy::compose(self.plugin.as_str(), &case, &places);
        Ok(ArrangedCase { places, case, policy })
    }

    /// Returns the requests to all servers of a case since it began.
    pub(super) fn requests(&self, places: &Places) -> Vec<Arc<ServerRequest>> {
        places.servers.keys().filter_map(|key| self.servers.get(key)).flat_map(Loopback::requests).collect()
    }

    /// Starts the servers of a case that are not running yet.
    async fn serve(&mut self, case: &TestCase) -> io::Result<BTreeMap<DependencyKey, SocketAddr>> {
        let wanted = &case.grants.http;
        if self.servers.len() > SERVERS_MAX {
            self.servers.retain(|key, _| wanted.contains_key(key));
        }
        let mut addresses = BTreeMap::new();
        for key in wanted.keys() {
            // A running server keeps its address, so a later case with the same grants has the same policy and shares
            // its host.
            let server = match self.servers.remove(key) {
                Some(server) => server,
                None => Loopback::start().await?,
            };
            addresses.insert(key.clone(), server.address);
            self.servers.insert(key.clone(), server);
        }
        Ok(addresses)
    }

    /// Creates and fills the directories of a case.
    pub(super) async fn fill_directories(
        &self,
        case: &TestCase,
        file: &Path,
    ) -> anyhow::Result<BTreeMap<DependencyKey, PathBuf>> {
        let mut directories = BTreeMap::new();
        for (key, directory) in &case.grants.directory {
            // A key is a plain name, so this cannot empty a directory elsewhere.
            let path = self.scratch.path(GRANTS).join(key.as_str());
            scratch::empty(&path).with_context(|| path.display().to_string())?;
            if let Some(from) = &directory.from {
                let copied = async { scratch::copy(&self.source(file, from)?, &path).await };
                copied.await.with_context(|| from.display().to_string())?;
            }
            for (name, contents) in &directory.files {
                // `copy` makes no links, so this cannot write outside the directory.
                scratch::write(&path.join(name), contents.as_bytes()).with_context(|| name.clone())?;
            }
            directories.insert(key.clone(), path);
        }
        Ok(directories)
    }

    /// Returns the folder to copy for a case. It must be in the project or next to the case file.
    fn source(&self, file: &Path, from: &Path) -> anyhow::Result<PathBuf> {
        // Resolve links before the check, so that no link leads out of the permitted folders.
        let beside = file.canonicalize()?;
        let beside = beside.parent().unwrap_or(Path::new("/"));
        let source = beside.join(from).canonicalize()?;
        let within = source.starts_with(&self.project) || source.starts_with(beside);
        ensure!(within, "this is neither in the project nor next to the case file");
        Ok(source)
    }

    /// Returns a host for a policy that other cases can share.
    async fn shared_host(&mut self, policy: String) -> anyhow::Result<Host> {
        let (state, cases) = match self.state.take() {
            Some((state, cases)) if cases < STATE_CASES_MAX => (state, cases),
            worn => {
                // Drop the hosts before the directory, because they still write to it.
                self.hosts.clear();
                drop(worn);
                (self.begin_state()?, 0)
            }
        };
        let path = state.path("");
        self.state = Some((state, cases + 1));
        let at = self.hosts.iter().position(|(known, _)| *known == policy);
        let host = match at.and_then(|at| self.hosts.remove(at)) {
            Some((_, host)) => host,
            None => self.open_host(&policy, &path).await?,
        };
        if self.hosts.len() == HOSTS_MAX {
            self.hosts.pop_front();
        }
        self.hosts.push_back((policy, host.clone()));
        Ok(host)
    }

    /// Creates a state directory with only the compiled code in it.
    pub(super) fn begin_state(&mut self) -> anyhow::Result<Scratch> {
        self.states += 1;
        let state = Scratch::at(self.scratch.path(format!("{STATE}-{}", self.states)));
        let path = state.path("");
        compiled::begin(&self.scratch.path(STATE), &path).with_context(|| path.display().to_string())?;
        Ok(state)
    }

    async fn open_host(&self, policy: &str, state: &Path) -> anyhow::Result<Host> {
        self.open_host_of(&self.plugins(), policy, state).await
    }

    /// Opens a host of a plugin directory, for this policy.
    pub(super) async fn open_host_of(&self, plugins: &Path, policy: &str, state: &Path) -> anyhow::Result<Host> {
        let builder = Host::builder(plugins, state).compiler(self.compiler.clone());
        let builder = builder.policy_text(policy, self.scratch.path(""));
        let builder = builder.observer(Arc::clone(&self.observer)).calls(self.calls);
        Ok(self.scratch.changed_by(builder.open()).await?)
    }

    /// Returns the plugin directory, which has only the component.
    pub(super) fn plugins(&self) -> PathBuf {
        self.scratch.path(PLUGINS)
    }

    /// Returns a path in the temporary directory.
    pub(super) fn temporary(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }
}

/// The error if the host refuses the component, so that no case can run. It holds the reason.
#[derive(Debug, thiserror::Error)]
#[error("the host refuses this plugin")]
pub struct RefusedComponent(#[source] pub Arc<LoadError>);

/// Records whether anything was compiled.
struct Compiles {
    heard: AtomicBool,
    observer: Arc<dyn Observer>,
}

impl Observer for Compiles {
    fn queued(&self, plugin: &PluginName, bytes: u64) {
        self.observer.queued(plugin, bytes);
    }

    fn compiling(&self, plugin: &PluginName) {
        self.heard.store(true, Ordering::Relaxed);
        self.observer.compiling(plugin);
    }

    fn compiled(&self, plugin: &PluginName) {
        self.observer.compiled(plugin);
    }
}
