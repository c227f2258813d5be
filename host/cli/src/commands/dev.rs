//! `portcullis dev`: a project that is built again at every change, served, and watched.

mod calls;
mod kept;
mod sources;

use super::Context;
use super::conduct::Interrupts;
use super::making::Making;
use super::serve;
use crate::arguments::DevArguments;
use crate::environment::PolicyPlaces;
use crate::exit_code::Exit;
use crate::style::Look;
use crate::{json, opening};
use calls::{Calls, Messages};
use kept::Kept;
use portcullis::plugins::Catalog;
use portcullis::text::{Lines, OneLine};
use portcullis::{Host, Watch};
use portcullis_build::{Built, Project, size};
use portcullis_mcp::http::Running;
use serde_json::{Value, json};
use sources::{Sources, Stamp};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often sources, policy and record are looked at. What has not changed between two looks is quiet.
const LOOK_INTERVAL: Duration = Duration::from_millis(300);

/// The policy of a project.
const POLICY: &str = "portcullis.toml";

pub(super) async fn run(arguments: &DevArguments, context: &Context) -> anyhow::Result<Exit> {
    anyhow::ensure!(!context.environment.plugins_named, "`dev` serves the project's own plugins: leave --plugins away");
    let mut interrupts = Interrupts::listen()?;
    Making::configure(&arguments.making);
    let project = Project::open(&arguments.project)?;
    let mut desk = Desk::new(project, arguments.http, context)?;
    let worked = tokio::select! {
        // A look may take long: the host opens in it and compiles, which ends where the look is dropped.
        never = desk.work() => never.map(|never| match never {}),
        () = interrupts.next() => Ok(Exit::Completed),
    };
    if let Some((_, making)) = desk.building {
        making.end().await;
    }
    if let Some(serving) = desk.serving {
        tokio::select! {
            () = serving.running.stop() => {}
            () = interrupts.next() => {}
        }
    }
    worked
}

/// What goes on.
struct Desk<'a> {
    context: &'a Context,
    root: PathBuf,
    address: SocketAddr,
    sources: Sources,
    /// Where the component goes.
    output: PathBuf,
    /// Whether it was there when the last build had ended.
    made: bool,
    /// Whether it was there then, and no more at the last look.
    missing: bool,
    /// The last component that the host took.
    kept: Kept,
    /// The policy, and what was seen of it.
    policy: PolicyPlaces,
    policy_file: PathBuf,
    policy_stamp: Option<Stamp>,
    /// Whether the host could not open under the policy as it is.
    stale: bool,
    building: Option<(Instant, Making)>,
    calls: Calls,
    messages: Arc<Messages>,
    serving: Option<Serving>,
}

/// A host and its server.
struct Serving {
    host: Host,
    running: Running,
    _watch: Watch,
}

impl<'a> Desk<'a> {
    fn new(project: Project, address: SocketAddr, context: &'a Context) -> anyhow::Result<Self> {
        let own = project.root.join(POLICY);
        let (policy, policy_file) = match &context.environment.policy {
            PolicyPlaces::Named(path) => (PolicyPlaces::Named(path.clone()), path.clone()),
            // The project is the person's own: its policy is what they say, and needs no trust.
            PolicyPlaces::Usual { .. } => (PolicyPlaces::Named(own.clone()), own),
        };
        let messages = Arc::<Messages>::default();
        let state = context.environment.state()?;
        let calls = Calls::from_now_on(state, &project.name);
        Ok(Self {
            context,
            sources: Sources::new(&project.root, state),
            output: project.output(),
            made: false,
            missing: false,
            kept: Kept::default(),
            root: project.root,
            address,
            policy,
            policy_stamp: Stamp::of(&policy_file),
            policy_file,
            stale: false,
            building: None,
            calls,
            messages,
            serving: None,
        })
    }

    /// Looks again and again.
    async fn work(&mut self) -> anyhow::Result<Infallible> {
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        loop {
            looks.tick().await;
            self.look().await?;
        }
    }

    /// Looks at everything once, and does what has to be done.
    async fn look(&mut self) -> anyhow::Result<()> {
        for call in self.calls.news(&self.messages) {
            self.tell(&call.document(), &call.line(self.context.terminal.style()))?;
        }
        let another_policy = self.look_at_policy().await?;
        if let Some((begun, mut making)) = self.building.take_if(|(_, making)| making.has_ended()) {
            self.built(begun, making.ended().await?).await?;
        }
        if self.building.is_some() {
            // What changes during a build is built after it.
            return Ok(());
        }
        // What the host refused under one policy it may take under another.
        let again = another_policy && self.kept.is_put_back();
        // Whoever removes more than a file is given the time of a look.
        let missing = self.made && !self.output.is_file();
        let gone = missing && self.missing;
        self.missing = missing;
        if gone {
            self.context.terminal.note(format_args!("{} is gone", shown(&self.output)));
        }
        if self.sources.changed() || again || gone { self.build().await } else { Ok(()) }
    }

    /// Begins to build the project, as it now describes itself.
    async fn build(&mut self) -> anyhow::Result<()> {
        if self.sources.are_more() {
            let most = sources::FILES_MAX;
            self.context.terminal.note(format_args!("only {most} files are looked at: changes of others are not seen"));
        }
        self.context.terminal.note(self.quiet("building …"));
        match Project::open(&self.root) {
            Ok(project) => {
                self.follow(&project);
                self.building = Some((Instant::now(), Making::begin(project, self.output.clone())));
                Ok(())
            }
            Err(error) => self.built(Instant::now(), Err(error)).await,
        }
    }

    /// The project may have another name than before.
    fn follow(&mut self, project: &Project) {
        let output = project.output();
        if output == self.output {
            return;
        }
        if self.output.is_file() {
            let old = shown(&self.output);
            self.context.terminal.note(format_args!("{old} is still there, and served: remove it if nobody wants it"));
        }
        self.calls.also_of(&project.name);
        (self.output, self.kept) = (output, Kept::default());
    }

    /// A build has ended: what it made is loaded, or what it said is shown and all stays as it was.
    async fn built(&mut self, begun: Instant, built: anyhow::Result<Built>) -> anyhow::Result<()> {
        let seconds = begun.elapsed().as_secs_f64();
        match built {
            Ok(built) => {
                let (bytes, file) = (built.bytes, built.file.display().to_string());
                let document = json!({ "event": "built", "file": file, "bytes": bytes, "seconds": seconds });
                self.tell(&document, &format!("built {}: {} in {seconds:.1} s\n", OneLine(&file), size(bytes)))?;
            }
            Err(error) => {
                let old = if self.output.is_file() { "; the plugin of before goes on" } else { "" };
                self.fail("build-failed", &format!("{error:#}"), &format!("the build failed{old}"))?;
            }
        }
        self.made = self.output.is_file();
        self.load().await
    }

    /// Has what lies in the plugin directory served.
    async fn load(&mut self) -> anyhow::Result<()> {
        if !self.made {
            return Ok(());
        }
        let opened = (self.serving.is_none() || self.stale) && self.serve().await?;
        let Some(Serving { host, .. }) = &self.serving else { return Ok(()) };
        if !opened && let Err(error) = host.reload().await {
            return self.fail("not-loaded", &error.to_string(), "what was built is not loaded");
        }
        let name = self.output.file_name().unwrap_or_default();
        let catalog = host.catalog();
        if catalog.refused().iter().all(|refused| name != refused.file.as_str()) {
            self.kept.keep(&self.output);
            return self.tell_refused(&catalog, "");
        }
        match self.kept.put_back(&self.output) {
            Ok(false) => self.tell_refused(&catalog, ""),
            Ok(true) => {
                self.tell_refused(&catalog, "; the plugin of before goes on")?;
                match host.reload().await {
                    Ok(_) => Ok(()),
                    Err(error) => self.fail("not-loaded", &error.to_string(), "the plugin of before is not loaded"),
                }
            }
            Err(error) => {
                self.tell_refused(&catalog, "")?;
                self.fail("not-loaded", &error.to_string(), "the plugin of before cannot be put back")
            }
        }
    }

    /// Says of the plugins that the host does not take, and what comes of it.
    fn tell_refused(&self, catalog: &Catalog, then: &str) -> anyhow::Result<()> {
        for refused in catalog.refused() {
            let heading = format!("the host refuses {}{then}", OneLine(&refused.file));
            self.fail("refused", &refused.error.to_string(), &heading)?;
        }
        Ok(())
    }

    /// Opens a host and serves it, in place of the one that there was; that one stays where it does not open.
    async fn serve(&mut self) -> anyhow::Result<bool> {
        let plugins = self.output.parent().unwrap_or(&self.root).to_owned();
        let hook = Arc::clone(&self.messages) as Arc<_>;
        let opened = opening::open_project(self.context, &plugins, &self.policy, hook).await;
        self.stale = opened.is_err();
        let host = match opened {
            Ok(host) => host,
            Err(error) => {
                self.fail("not-opened", &format!("{error:#}"), "the host does not open")?;
                return Ok(false);
            }
        };
        if let Some(Serving { running, .. }) = self.serving.take() {
            self.address = running.address();
            running.stop().await;
        }
        let running = serve::at(&host, self.address, self.context).await?;
        let url = running.url();
        if self.context.json {
            self.context.terminal.print(&json::line(&json!({ "event": "serving", "url": url }))?)?;
        }
        self.serving = Some(Serving { _watch: host.watch(), host, running });
        Ok(true)
    }

    /// Serves under a policy that has changed, unless it is wrong; says whether it has changed.
    async fn look_at_policy(&mut self) -> anyhow::Result<bool> {
        let stamp = Stamp::of(&self.policy_file);
        if stamp == self.policy_stamp {
            return Ok(false);
        }
        self.policy_stamp = stamp;
        self.context.terminal.note(self.quiet("the policy has changed"));
        if self.serving.is_none() {
            self.load().await?;
        } else if self.serve().await?
            && let Some(serving) = &self.serving
        {
            self.tell_refused(&serving.host.catalog(), "")?;
        }
        Ok(true)
    }

    fn quiet(&self, text: &str) -> String {
        self.context.terminal.note_style().paint(Look::Quiet, text).to_string()
    }

    fn tell(&self, document: &Value, line: &str) -> anyhow::Result<()> {
        let text = if self.context.json { json::line(document)? } else { line.to_owned() };
        Ok(self.context.terminal.print(&text)?)
    }

    /// Shows what went wrong, and goes on.
    fn fail(&self, event: &str, why: &str, heading: &str) -> anyhow::Result<()> {
        let heading = self.context.terminal.style().paint(Look::Bad, heading);
        self.tell(&json!({ "event": event, "error": why }), &format!("{heading}\n{}\n", Lines(why)))
    }
}

/// A path, for a person.
fn shown(path: &Path) -> String {
    OneLine(&path.display().to_string()).to_string()
}
