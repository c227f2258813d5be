//! `portcullis dev`: a project that is built again at every change, served, and watched.

mod calls;
mod sources;

use super::Context;
use super::conduct::Interrupts;
use super::serve;
use crate::arguments::DevArguments;
use crate::environment::PolicyPlaces;
use crate::exit_code::Exit;
use crate::style::Look;
use crate::{json, opening};
use calls::{Calls, Messages};
use portcullis::text::{Lines, OneLine};
use portcullis::{Host, Watch};
use portcullis_build::{Built, Project, size};
use portcullis_mcp::http::Running;
use serde_json::{Value, json};
use sources::{Sources, Stamp};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// How often sources, policy and record are looked at. What has not changed between two looks is quiet.
const LOOK_INTERVAL: Duration = Duration::from_millis(300);

/// The policy of a project.
const POLICY: &str = "portcullis.toml";

pub(super) async fn run(arguments: &DevArguments, context: &Context) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    let project = Project::open(&arguments.project)?;
    let mut desk = Desk::new(project, arguments.http, context)?;
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    loop {
        tokio::select! {
            _ = looks.tick() => desk.look().await?,
            () = interrupts.next() => break,
        }
    }
    if let Some(serving) = desk.serving.take() {
        tokio::select! {
            () = serving.running.stop() => {}
            () = interrupts.next() => {}
        }
    }
    Ok(Exit::Completed)
}

/// What goes on.
struct Desk<'a> {
    context: &'a Context,
    root: PathBuf,
    output: PathBuf,
    address: SocketAddr,
    sources: Sources,
    /// The policy, and what was seen of it.
    policy: PolicyPlaces,
    policy_file: PathBuf,
    policy_stamp: Option<Stamp>,
    building: Option<(Instant, JoinHandle<anyhow::Result<Built>>)>,
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
        let calls = Calls::from_now_on(context.environment.state()?, &project.name);
        Ok(Self {
            context,
            sources: Sources::new(&project.root),
            output: project.output(),
            root: project.root,
            address,
            policy,
            policy_stamp: Stamp::of(&policy_file),
            policy_file,
            building: None,
            calls,
            messages,
            serving: None,
        })
    }

    /// Looks at everything once, and does what has to be done.
    async fn look(&mut self) -> anyhow::Result<()> {
        for call in self.calls.news(&self.messages) {
            self.tell(&call.document(), &call.line(self.context.terminal.style()))?;
        }
        self.look_at_policy().await?;
        if let Some((begun, build)) = self.building.take_if(|(_, build)| build.is_finished()) {
            self.built(begun, build.await?).await?;
        }
        // What changes during a build is built after it.
        if self.building.is_none() && self.sources.changed() {
            let (root, output) = (self.root.clone(), self.output.clone());
            let build = move || portcullis_build::build(&Project::open(&root)?, &output);
            self.building = Some((Instant::now(), tokio::task::spawn_blocking(build)));
            self.context.terminal.note(self.quiet("building …"));
        }
        Ok(())
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
        self.load().await
    }

    /// Has what lies in the plugin directory served.
    async fn load(&mut self) -> anyhow::Result<()> {
        if !self.output.is_file() {
            return Ok(());
        }
        let Some(serving) = &self.serving else { return self.serve().await };
        match serving.host.reload().await {
            Ok(_) => self.tell_refused(),
            Err(error) => self.fail("not-loaded", &error.to_string(), "what was built is not loaded"),
        }
    }

    /// Says of a plugin that was built and that the host does not take.
    fn tell_refused(&self) -> anyhow::Result<()> {
        let Some(serving) = &self.serving else { return Ok(()) };
        for refused in serving.host.catalog().refused() {
            self.fail("refused", &refused.error.to_string(), &format!("the host refuses {}", OneLine(&refused.file)))?;
        }
        Ok(())
    }

    /// Opens a host and serves it, in place of the one that there was.
    async fn serve(&mut self) -> anyhow::Result<()> {
        let plugins = self.output.parent().unwrap_or(&self.root).to_owned();
        let hook = Arc::clone(&self.messages) as Arc<_>;
        let host = match opening::open_project(self.context, &plugins, &self.policy, hook).await {
            Ok(host) => host,
            Err(error) => return self.fail("not-opened", &format!("{error:#}"), "the host does not open"),
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
        self.tell_refused()
    }

    /// A policy that has changed is served under, unless it is wrong.
    async fn look_at_policy(&mut self) -> anyhow::Result<()> {
        let stamp = Stamp::of(&self.policy_file);
        if stamp == self.policy_stamp {
            return Ok(());
        }
        self.policy_stamp = stamp;
        self.context.terminal.note(self.quiet("the policy has changed"));
        if self.serving.is_some() { self.serve().await } else { self.load().await }
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
