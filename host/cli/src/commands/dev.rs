//! `portcullis dev`: rebuilds a project on every change, serves it, and shows its calls.

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
use crate::failure::{CommandError, FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::style::TextStyle;
use calls::{Calls, Messages};
use kept::LastGoodComponent;
use portcullis::plugins::Catalog;
use portcullis::text::{Lines, OneLine, WithCauses};
use portcullis::{Host, Watch};
use portcullis_build::{Built, Project, size};
use portcullis_mcp::http::Running;
use serde_json::{Value, json};
use sources::{SourceStamp, Sources};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often to check the sources, the policy and the audit log. Sources are stable if two checks find the same.
const LOOK_INTERVAL: Duration = Duration::from_millis(300);

/// The policy file of a project.
const POLICY: &str = "portcullis.toml";

pub(super) async fn run(arguments: &DevArguments, context: &Context) -> anyhow::Result<Exit> {
    let named =
        || CommandError::new(FailureCode::Usage, "`dev` serves the project's own plugins").help("omit --plugins");
    anyhow::ensure!(!context.environment.plugins_named, named());
    let mut interrupts = Interrupts::listen()?;
    Making::configure(&arguments.making);
    let project = Project::open(&arguments.project).code(FailureCode::ProjectInvalid)?;
    let mut desk = DevSession::new(project, arguments.http, context)?;
    let worked = tokio::select! {
        // A check may open the host and compile, which takes long. Dropping the future ends that.
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

/// The state of the command.
struct DevSession<'a> {
    context: &'a Context,
    root: PathBuf,
    address: SocketAddr,
    sources: Sources,
    /// The path of the component.
    output: PathBuf,
    /// Whether the component existed when the last build ended.
    made: bool,
    /// Whether it existed then, and was missing at the last check.
    missing: bool,
    /// The last component that the host accepted.
    kept: LastGoodComponent,
    /// The policy, its file, and the state of the file at the last check.
    policy: PolicyPlaces,
    policy_file: PathBuf,
    policy_stamp: Option<SourceStamp>,
    /// Whether the host failed to open under the current policy.
    stale: bool,
    building: Option<(Instant, Making)>,
    calls: Calls,
    messages: Arc<Messages>,
    serving: Option<DevServer>,
}

/// A host and its server.
struct DevServer {
    host: Host,
    running: Running,
    _watch: Watch,
}

impl<'a> DevSession<'a> {
    fn new(project: Project, address: SocketAddr, context: &'a Context) -> anyhow::Result<Self> {
        let own = project.root.join(POLICY);
        let (policy, policy_file) = match &context.environment.policy {
            PolicyPlaces::Named(path) => (PolicyPlaces::Named(path.clone()), path.clone()),
            // The project is the user's own, so its policy needs no trust.
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
            kept: LastGoodComponent::default(),
            root: project.root,
            address,
            policy,
            policy_stamp: SourceStamp::of(&policy_file),
            policy_file,
            stale: false,
            building: None,
            calls,
            messages,
            serving: None,
        })
    }

    /// Checks for changes until the future is dropped.
    async fn work(&mut self) -> anyhow::Result<Infallible> {
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        loop {
            looks.tick().await;
            self.look().await?;
        }
    }

    /// Checks everything once, and reacts to what has changed.
    async fn look(&mut self) -> anyhow::Result<()> {
        for call in self.calls.news(&self.messages) {
            self.tell(&call.document(), &call.line(self.context.terminal.style()))?;
        }
        let another_policy = self.look_at_policy().await?;
        if let Some((begun, mut making)) = self.building.take_if(|(_, making)| making.has_ended()) {
            self.built(begun, making.ended().await?).await?;
        }
        if self.building.is_some() {
            // A change during a build starts another build after it.
            return Ok(());
        }
        // The host may accept under the new policy what it refused under the old one.
        let again = another_policy && self.kept.is_put_back();
        // Wait one more check before rebuilding: a removal of more than one file may not be finished yet.
        let missing = self.made && !self.output.is_file();
        let gone = missing && self.missing;
        self.missing = missing;
        if gone {
            self.context.terminal.note(format_args!("{} was removed", shown(&self.output)));
        }
        if self.sources.changed() || again || gone { self.build().await } else { Ok(()) }
    }

    /// Starts to build the project with its current settings.
    async fn build(&mut self) -> anyhow::Result<()> {
        if self.sources.are_more() {
            let most = sources::FILES_MAX;
            self.context.terminal.note(format_args!("only {most} files are watched: changes to others have no effect"));
        }
        self.context.terminal.note(self.quiet("building …"));
        match Project::open(&self.root) {
            Ok(project) => {
                self.follow(&project);
                self.building = Some((Instant::now(), Making::begin(project, self.output.clone())));
                Ok(())
            }
            // `plugin.toml` is a source too, so its error is shown like that of a build.
            Err(error) => self.built(Instant::now(), Err(error)).await,
        }
    }

    /// Handles a change of the project's name.
    fn follow(&mut self, project: &Project) {
        let output = project.output();
        if output == self.output {
            return;
        }
        if self.output.is_file() {
            let old = shown(&self.output);
            self.context.terminal.note(format_args!("{old} still exists and is served: remove it if not needed"));
        }
        // Calls under the old name may still run. The kept component has the old name too.
        self.calls.also_of(&project.name);
        (self.output, self.kept) = (output, LastGoodComponent::default());
    }

    /// Handles the end of a build: loads the component, or shows the error and keeps the previous one.
    async fn built(&mut self, begun: Instant, built: anyhow::Result<Built>) -> anyhow::Result<()> {
        let seconds = begun.elapsed().as_secs_f64();
        match built {
            Ok(built) => {
                let (bytes, file) = (built.bytes, built.file.display().to_string());
                let document = json!({ "event": "built", "file": file, "bytes": bytes, "seconds": seconds });
                self.tell(&document, &format!("built {}: {} in {seconds:.1} s\n", OneLine(&file), size(bytes)))?;
            }
            Err(error) => {
                let old = if self.output.is_file() { "; the previous plugin is still served" } else { "" };
                self.fail("build-failed", &format!("{error:#}"), &format!("the build failed{old}"))?;
            }
        }
        self.made = self.output.is_file();
        self.load().await
    }

    /// Serves the content of the plugin directory.
    async fn load(&mut self) -> anyhow::Result<()> {
        if !self.made {
            return Ok(());
        }
        // A host that did not open under the policy may open with the new component.
        let opened = (self.serving.is_none() || self.stale) && self.serve().await?;
        let Some(DevServer { host, .. }) = &self.serving else { return Ok(()) };
        // A host that has just opened has read the directory already.
        if !opened && let Err(error) = host.reload().await {
            return self.fail("not-loaded", &WithCauses(&error).to_string(), "the new build is not loaded");
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
                self.tell_refused(&catalog, "; the previous plugin is still served")?;
                match host.reload().await {
                    Ok(_) => Ok(()),
                    Err(error) => {
                        self.fail("not-loaded", &WithCauses(&error).to_string(), "the previous plugin is not loaded")
                    }
                }
            }
            Err(error) => {
                self.tell_refused(&catalog, "")?;
                self.fail("not-loaded", &error.to_string(), "the previous plugin cannot be restored")
            }
        }
    }

    /// Reports the plugins that the host refuses, and the consequence.
    fn tell_refused(&self, catalog: &Catalog, then: &str) -> anyhow::Result<()> {
        for refused in catalog.refused() {
            let heading = format!("the host refuses {}{then}", OneLine(&refused.file));
            self.fail("refused", &WithCauses(&*refused.error).to_string(), &heading)?;
        }
        Ok(())
    }

    /// Opens a host and serves it instead of the current one. If it does not open, the current one stays.
    async fn serve(&mut self) -> anyhow::Result<bool> {
        let plugins = self.output.parent().unwrap_or(&self.root).to_owned();
        let hook = Arc::clone(&self.messages) as Arc<_>;
        let opened = opening::open_project(self.context, &plugins, &self.policy, hook).await;
        self.stale = opened.is_err();
        let host = match opened {
            Ok(host) => host,
            Err(error) => {
                self.fail("not-opened", &format!("{error:#}"), "the host cannot open")?;
                return Ok(false);
            }
        };
        if let Some(DevServer { running, .. }) = self.serving.take() {
            // Two servers cannot listen at one address. Port 0 has become a real port, which agents keep using.
            self.address = running.address();
            running.stop().await;
        }
        let running = serve::at(&host, self.address, self.context).await?;
        let url = running.url();
        if self.context.json {
            let document = json!({ "event": "serving", "url": url });
            self.context.terminal.print(&json::document(DocumentKind::DevEvent, &document)?)?;
        }
        self.serving = Some(DevServer { _watch: host.watch(), host, running });
        Ok(true)
    }

    /// Serves under a changed policy, unless it is invalid. Returns whether the file has changed.
    async fn look_at_policy(&mut self) -> anyhow::Result<bool> {
        let stamp = SourceStamp::of(&self.policy_file);
        if stamp == self.policy_stamp {
            return Ok(false);
        }
        // Also if the policy turns out to be invalid, so that its error is shown once.
        self.policy_stamp = stamp;
        self.context.terminal.note(self.quiet("the policy has changed"));
        // No host has opened under the old policy. `load` tries again, if there is a component.
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
        self.context.terminal.note_style().paint(TextStyle::Quiet, text).to_string()
    }

    fn tell(&self, document: &Value, line: &str) -> anyhow::Result<()> {
        let terminal = self.context.terminal;
        match self.context.json {
            true => terminal.print(&json::document(DocumentKind::DevEvent, document)?)?,
            false => terminal.show(line)?,
        }
        Ok(())
    }

    /// Shows an error without ending the command.
    fn fail(&self, event: &str, why: &str, heading: &str) -> anyhow::Result<()> {
        let heading = self.context.terminal.style().paint(TextStyle::Bad, heading);
        self.tell(&json!({ "event": event, "error": why }), &format!("{heading}\n{}\n", Lines(why)))
    }
}

/// Formats a path for people.
fn shown(path: &Path) -> String {
    OneLine(&path.display().to_string()).to_string()
}
