//! Running cases: the world of each, its calls, and what they left.

use super::compiled::{self, Compiled};
use super::file::{Case, Located, Reaction, Scope, Step};
use super::fill::Fill;
use super::loopback::Loopback;
use super::policy::{self, Places};
use super::scratch::{self, Scratch};
use super::verdict::{self, Left};
use anyhow::{Context as _, ensure};
use portcullis::policy::PluginName;
use portcullis::{Answer, Answering, Approver, Cancellation, Compiler, EventKind, Events, Host, Observer, Progress};
use portcullis::{Question, Reply, Request};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The folders of the scratch directory.
const PLUGINS: &str = "plugins";
const STATE: &str = "state";
const GRANTS: &str = "grants";

/// What a case came to.
pub(crate) struct Finished {
    /// Everything that was not as expected; nothing where the case passed.
    pub(crate) problems: Vec<String>,
    /// How the last call ended; nothing where none was made.
    pub(crate) end: Option<End>,
    /// What its calls printed and logged, where the case failed.
    pub(crate) log: String,
    pub(crate) time: Duration,
}

/// How a call ended, in the host's words.
pub(crate) struct End {
    pub(crate) outcome: &'static str,
    pub(crate) code: &'static str,
}

/// Runs the cases of one component.
pub(crate) struct Runner {
    plugin: PluginName,
    compiler: Compiler,
    observer: Arc<dyn Observer>,
    /// Hosts by their policies: cases that are granted the same share one, each with a session of its own.
    hosts: HashMap<String, Host>,
    servers: BTreeMap<String, Loopback>,
    cases: usize,
    // The last to go, after the hosts that work in it.
    scratch: Scratch,
}

impl Runner {
    /// For a component, under the name of its plugin.
    ///
    /// # Errors
    /// There is no room for what the cases need, or the component cannot be loaded.
    pub(crate) async fn open(
        plugin: PluginName,
        component: &Path,
        compiler: Compiler,
        observer: Arc<dyn Observer>,
    ) -> anyhow::Result<Self> {
        let scratch = Scratch::new()?;
        let file = scratch.path(PLUGINS).join(format!("{plugin}.wasm"));
        scratch::empty(&scratch.path(PLUGINS))?;
        let bytes = std::fs::read(component).with_context(|| component.display().to_string())?;
        std::fs::write(&file, &bytes)?;
        let (hosts, servers, state) = (HashMap::new(), BTreeMap::new(), scratch.path(STATE));
        let compiled = Compiled::of(&bytes);
        if let Some(compiled) = &compiled {
            compiled.adopt(&state);
        }
        let compiles = Arc::new(Compiles { heard: AtomicBool::new(false), observer });
        let observer = Arc::clone(&compiles) as Arc<dyn Observer>;
        let runner = Self { plugin, compiler, observer, hosts, servers, cases: 0, scratch };
        // Compiled once, and refused before any case is tried.
        let host = runner.open_host("", &state).await?;
        if let Some(compiled) = compiled.filter(|_| compiles.heard.load(Ordering::Relaxed)) {
            compiled.keep(&state);
        }
        if let Some(refused) = host.catalog().refused().first() {
            return Err(
                Refused(format!("{}: the host refuses this plugin: {}", component.display(), refused.error)).into()
            );
        }
        Ok(runner)
    }

    /// Runs a case.
    pub(crate) async fn run(&mut self, located: &Located) -> Finished {
        let begun = Instant::now();
        self.cases += 1;
        let mut finished = match self.prepare(located).await {
            Ok((host, world)) => self.play(&host, &world, &located.case).await,
            Err(error) => {
                let problem = format!("the case cannot be set up: {error:#}");
                Finished { problems: vec![problem], end: None, log: String::new(), time: Duration::ZERO }
            }
        };
        finished.time = begun.elapsed();
        finished
    }

    /// Makes the directories and servers of a case, and the host that grants them.
    async fn prepare(&mut self, located: &Located) -> anyhow::Result<(Host, World)> {
        let (case, grants) = (&located.case, &located.case.grants);
        let beside = located.file.parent().unwrap_or(Path::new("."));
        let mut world = World::default();
        for (key, directory) in &grants.directory {
            // Anything else would name a directory that is not the case's own.
            let mut parts = Path::new(key).components();
            let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == &**key);
            ensure!(plain, "`{}` is no key", key.escape_debug());
            let path = self.scratch.path(GRANTS).join(key);
            scratch::empty(&path).with_context(|| path.display().to_string())?;
            if let Some(from) = &directory.from {
                let from = beside.join(from);
                scratch::copy(&from, &path).with_context(|| from.display().to_string())?;
            }
            for (name, contents) in &directory.files {
                scratch::write(&path.join(name), contents.as_bytes()).with_context(|| name.clone())?;
            }
            world.directories.insert(key.clone(), path);
        }
        for (key, http) in &grants.http {
            if !self.servers.contains_key(key) {
                self.servers.insert(key.clone(), Loopback::start().await.context("no server can be started")?);
            }
            if let Some(server) = self.servers.get(key) {
                server.answer(&http.answers);
                world.servers.insert(key.clone(), server.address);
            }
        }
        world.fill = Fill::of(&world.servers);
        let places = Places { directories: &world.directories, servers: &world.servers, fill: &world.fill };
        let policy = policy::compose(self.plugin.as_str(), case, &places);
        let host = match grants.store.values().any(|scope| *scope == Scope::Plugin) {
            // What all sessions share is shared by no two cases.
            true => self.open_host(&policy, &self.fresh_state()?).await?,
            false => match self.hosts.get(&policy) {
                Some(host) => host.clone(),
                None => {
                    let host = self.open_host(&policy, &self.scratch.path(STATE)).await?;
                    self.hosts.insert(policy, host.clone());
                    host
                }
            },
        };
        Ok((host, world))
    }

    /// A state directory with nothing in it but the compiled code.
    fn fresh_state(&self) -> anyhow::Result<PathBuf> {
        let (from, to) = (self.scratch.path(STATE), self.scratch.path(format!("{STATE}-{}", self.cases)));
        compiled::begin(&from, &to).with_context(|| to.display().to_string())?;
        Ok(to)
    }

    async fn open_host(&self, policy: &str, state: &Path) -> anyhow::Result<Host> {
        let builder = Host::builder(self.scratch.path(PLUGINS), state, self.compiler.clone());
        let builder = builder.policy_text(policy, self.scratch.path(""))?;
        Ok(builder.observer(Arc::clone(&self.observer)).calls(1).open().await?)
    }

    async fn play(&self, host: &Host, world: &World, case: &Case) -> Finished {
        let (mut problems, mut log, mut end) = (Vec::new(), String::new(), None);
        let several = case.steps.len() > 1;
        for (index, step) in case.steps.iter().enumerate() {
            let (reply, progress) = self.call(host, world, step).await;
            let printed = if step.expect.log.is_empty() { None } else { Some(printed(host, &reply)) };
            let left = Left {
                reply: &reply,
                log: printed.as_ref().map(|printed| printed.text.as_str()),
                progress: &progress,
                requests: world.servers.keys().flat_map(|key| self.servers.get(key)).flat_map(Loopback::requests),
                directories: &world.directories,
                fill: &world.fill,
            };
            let found = verdict::problems(&step.expect, left);
            if !found.is_empty() {
                let printed = printed.unwrap_or_else(|| self::printed(host, &reply));
                log.push_str(&printed.whole());
            }
            let label =
                |problem| if several { format!("step {}, {}: {problem}", index + 1, step.tool) } else { problem };
            problems.extend(found.into_iter().map(label));
            end = Some(End { outcome: reply.outcome().as_str(), code: reply.code.as_str() });
        }
        Finished { problems, end, log, time: Duration::ZERO }
    }

    /// Makes the call of a step, and hears what it reports.
    async fn call(&self, host: &Host, world: &World, step: &Step) -> (Reply, Vec<Arc<Progress>>) {
        let arguments = match (&step.arguments_text, &step.arguments) {
            (Some(text), _) => world.fill.text(text),
            (None, Some(value)) => world.fill.value(value).to_string(),
            (None, None) => "{}".to_owned(),
        };
        let cancellation = Cancellation::new();
        let mut request = Request::new(format!("{}.{}", self.plugin, step.tool), arguments)
            .session(&format!("case-{}", self.cases))
            .cancellation(cancellation.clone());
        if let Some(message) = &step.message {
            request = request.message(message);
        }
        if let Some(agent) = &step.agent {
            request = request.agent(agent);
        }
        if !step.answer.is_empty() {
            request = request.approver(Arc::new(Person::new(&step.answer)));
        }
        let (request, events) = request.watched();
        let cancel = async {
            if let Some(milliseconds) = step.cancel_after_ms {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                cancellation.cancel();
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            ended = async { tokio::join!(host.call(request), heard(events)) } => ended,
            never = cancel => match never {},
        }
    }
}

/// The host does not load the component, so that no case can be tried. The text says why.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

impl Display for Refused {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for Refused {}

/// Hears whether anything was compiled.
struct Compiles {
    heard: AtomicBool,
    observer: Arc<dyn Observer>,
}

impl Observer for Compiles {
    fn compiling(&self, plugin: &PluginName) {
        self.heard.store(true, Ordering::Relaxed);
        self.observer.compiling(plugin);
    }

    fn compiled(&self, plugin: &PluginName) {
        self.observer.compiled(plugin);
    }
}

/// What a case is granted.
#[derive(Default)]
struct World {
    directories: BTreeMap<String, PathBuf>,
    servers: BTreeMap<String, SocketAddr>,
    fill: Fill,
}

/// A person who knows beforehand what they will say: to each question in turn, and the last of it to all that follow.
struct Person {
    reactions: Vec<Reaction>,
    answered: AtomicUsize,
}

impl Person {
    fn new(reactions: &[Reaction]) -> Self {
        Self { reactions: reactions.to_vec(), answered: AtomicUsize::new(0) }
    }
}

impl Approver for Person {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        let turn = self.answered.fetch_add(1, Ordering::Relaxed);
        let answer = match self.reactions.get(turn).or(self.reactions.last()) {
            Some(Reaction::Approve) => Answer::Yes,
            Some(Reaction::Reject) | None => Answer::No { note: None },
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Every report of a call, until it is over.
async fn heard(mut events: Events) -> Vec<Arc<Progress>> {
    let mut reports = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Progress(progress) = event.kind {
            reports.push(progress);
        }
    }
    reports
}

/// What the record has of what a call printed, and of why it broke.
#[derive(Default)]
struct Printed {
    text: String,
    detail: String,
}

impl Printed {
    fn whole(&self) -> String {
        let parts = [self.text.as_str(), self.detail.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).map(|part| format!("{}\n", part.trim_end())).collect()
    }
}

fn printed(host: &Host, reply: &Reply) -> Printed {
    let mut printed = Printed::default();
    let read = host.audit().read(|entry| {
        let member = |name: &str| entry.document.get(name).and_then(Value::as_str);
        if member("kind") == Some("outcome") && member("call") == Some(&reply.id) {
            let text = |name| member(name).unwrap_or_default().to_owned();
            printed = Printed { text: text("printed"), detail: text("detail") };
        }
        Ok(())
    });
    if let Err(error) = read {
        printed.detail = format!("the record cannot be read: {error}");
    }
    printed
}
