//! Opens the library's host, or only its engine, as the command line asks.

use crate::approver::TerminalApprover;
use crate::context::Context;
use crate::environment::{PluginPlaces, PolicyPlaces, UserDirectories, UserPolicyFile};
use crate::loading_notes::LoadingNotes;
use crate::progress::{CompileProgress, StatusLine};
use crate::style::TextStyle;
use portcullis::metrics::CallObserver;
use portcullis::plugins::{Engine, EngineConfig, LoadError, Loaded, Observer, Silent};
use portcullis::policy::{Limits, PluginName, Unattended};
use portcullis::state::StatePlace;
use portcullis::text::OneLine;
use portcullis::{Approvals, Compiler, Hook, Host, HostBuilder};
use portcullis_cases::KeptCode;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a console waits for plugins that are being compiled. The pages that need them show the others meanwhile.
const CONSOLE_START_WAIT: Duration = Duration::from_secs(3);

/// A tool of the host itself, whose calls need no plugin.
const OWN_TOOL: &str = "output.read";

/// Who answers if the policy decides `ask`.
pub(crate) enum ApprovalChannel {
    /// The user at this terminal, or anyone with `portcullis approvals`.
    Terminal(Arc<TerminalApprover>),
    /// Anyone with `portcullis approvals`.
    Elsewhere,
    /// No one during the call. The field says what happens instead.
    NoApprover(Unattended),
    /// No one during the call. The policy's `unattended` says what happens instead.
    AsPolicySays,
}

/// Opens the host of a command that asks no approver.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open(context: &Context) -> anyhow::Result<Host> {
    let builder = builder(context, &StatusLine::new(context.terminal), &ApprovalChannel::AsPolicySays)?;
    finish(context, builder.calls(1), &ApprovalChannel::AsPolicySays).await
}

/// Opens the host of a command that reports everything itself. Prints no warnings.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_quietly(context: &Context) -> anyhow::Result<Host> {
    let builder = builder(context, &StatusLine::new(context.terminal), &ApprovalChannel::AsPolicySays)?;
    Ok(builder.calls(1).open().await?)
}

/// Opens a host for its policy, without the installed plugins, as far as no rule needs them. Prints no warnings, except
/// that the ledger was rolled back: no later command finds that again.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_policy(context: &Context) -> anyhow::Result<Host> {
    let builder = builder(context, &StatusLine::new(context.terminal), &ApprovalChannel::AsPolicySays)?;
    let host = builder.calls(1).only_for(OWN_TOOL).open().await?;
    note_rollback(host.approvals(), context);
    Ok(host)
}

/// Opens the host of a command that asks no approver. Loads only what a call of this tool needs.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_for(context: &Context, tool: &str) -> anyhow::Result<Host> {
    let builder = builder(context, &StatusLine::new(context.terminal), &ApprovalChannel::AsPolicySays)?;
    finish(context, builder.calls(1).only_for(tool), &ApprovalChannel::AsPolicySays).await
}

/// Opens the host of a command that makes one call.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_with(
    context: &Context,
    status: &Arc<StatusLine>,
    channel: &ApprovalChannel,
    tool: &str,
) -> anyhow::Result<Host> {
    // This process makes one call, and other processes make calls of the same session.
    let builder = builder(context, status, channel)?.calls(1).only_for(tool).share_sessions().share_live();
    let host = finish(context, builder, channel).await?;
    note_rule_gaps(context, &host);
    Ok(host)
}

/// The options for opening the host of a server.
pub(crate) struct ServeSettings {
    /// Maximum number of calls that run at the same time.
    pub(crate) calls: u32,
    /// Whether the command line names the session. Other processes can then use the same session.
    pub(crate) session_is_named: bool,
    /// How long the server waits for plugins that are being compiled.
    pub(crate) start_wait: Duration,
    /// Learns about each call that has ended.
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
}

/// Opens the host of a server. Approvals come from `portcullis approvals`, or through the server. The terminal reports
/// plugins that become ready only after the server has started.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_serving(context: &Context, serving: ServeSettings) -> anyhow::Result<(Host, RuleGapNotes)> {
    let builder = builder(context, &StatusLine::new(context.terminal), &ApprovalChannel::Elsewhere)?
        .calls(serving.calls)
        .share_live();
    let builder = if serving.session_is_named { builder.share_sessions() } else { builder };
    let builder = serving.observer.into_iter().fold(builder, HostBuilder::call_observer);
    let builder = builder.load_in_background(serving.start_wait).observer(Arc::new(LoadingNotes(context.terminal)));
    let host = finish(context, builder, &ApprovalChannel::Elsewhere).await?;
    let gaps = note_rule_gaps(context, &host);
    Ok((host, gaps))
}

/// Opens the host of a console, which runs approved calls whose own process has ended. Prints nothing: its pages show
/// what is wrong.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_console(context: &Context) -> anyhow::Result<Host> {
    let builder = builder(context, &StatusLine::new(context.terminal), &ApprovalChannel::Elsewhere)?;
    let builder =
        builder.share_sessions().share_live().load_in_background(CONSOLE_START_WAIT).observer(Arc::new(Silent));
    Ok(builder.open().await?)
}

/// Warns about rules on a path that tools bypass. Commands that list tools or rules show these gaps themselves.
fn note_rule_gaps(context: &Context, host: &Host) -> RuleGapNotes {
    let mut notes = RuleGapNotes::default();
    notes.note(context, host);
    notes
}

/// The warnings about rules that tools bypass. Each is printed once.
#[derive(Default)]
pub(crate) struct RuleGapNotes(BTreeSet<String>);

impl RuleGapNotes {
    /// Prints the warnings for the current plugins and policy that were not printed before.
    pub(crate) fn note(&mut self, context: &Context, host: &Host) {
        let style = context.terminal.note_style();
        for gap in host.rule_gaps() {
            let gap = gap.to_string();
            if !self.0.contains(&gap) {
                context.terminal.note(style.paint(TextStyle::Doubtful, OneLine(&gap)));
                self.0.insert(gap);
            }
        }
    }
}

/// Opens the host of a project under development, with a hook for its calls. Approvals come from
/// `portcullis approvals`.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_project(
    context: &Context,
    plugins: &Path,
    policy: &PolicyPlaces,
    hook: Arc<dyn Hook>,
) -> anyhow::Result<Host> {
    let environment = &context.environment;
    let builder = of_user(Host::builder(plugins, environment.state_place()?), &environment.user);
    let observer = CompileProgress::new(&StatusLine::new(context.terminal));
    let builder = builder.approval_options(environment.place_options.iter().map(String::as_str));
    let builder = with_policies(builder, policy).answered_elsewhere().observer(Arc::new(observer)).hook(hook);
    let host = builder.share_live().open().await?;
    note_rollback(host.approvals(), context);
    note_live_fault(context, &host);
    warn(&host, context);
    note_rule_gaps(context, &host);
    Ok(host)
}

/// Opens a host under another user's policy, to find out whether it can be used. Asks no approver, and prints only
/// whether the ledger was rolled back.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_under(context: &Context, policy: &PolicyPlaces) -> anyhow::Result<Host> {
    let environment = &context.environment;
    let builder = of_user(of_plugins(&environment.plugins, environment.state_place()?), &environment.user);
    let host = with_policies(builder, policy).calls(1).open().await?;
    note_rollback(host.approvals(), context);
    Ok(host)
}

/// Opens a host under another user's policy, with only what a call of this tool needs. Asks no approver, and prints
/// only whether the ledger was rolled back.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_under_for(context: &Context, policy: &PolicyPlaces, tool: &str) -> anyhow::Result<Host> {
    let environment = &context.environment;
    let builder = of_user(of_plugins(&environment.plugins, environment.state_place()?), &environment.user);
    let host = with_policies(builder, policy).calls(1).only_for(tool).open().await?;
    note_rollback(host.approvals(), context);
    Ok(host)
}

/// Opens a host under another user's policy, for that policy alone: without plugins and servers, as far as no rule
/// needs them.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_policy_under(context: &Context, policy: &PolicyPlaces) -> anyhow::Result<Host> {
    open_under_for(context, policy, OWN_TOOL).await
}

fn builder(context: &Context, status: &Arc<StatusLine>, channel: &ApprovalChannel) -> anyhow::Result<HostBuilder> {
    let environment = &context.environment;
    let builder = of_user(of_plugins(&environment.plugins, environment.state_place()?), &environment.user);
    let builder = with_policies(builder, &environment.policy);
    let builder = builder.approval_options(environment.place_options.iter().map(String::as_str));
    let builder = match channel {
        ApprovalChannel::Terminal(approver) => builder.approver(Arc::clone(approver) as Arc<_>),
        ApprovalChannel::Elsewhere => builder.answered_elsewhere(),
        ApprovalChannel::NoApprover(unattended) => builder.unattended(*unattended),
        ApprovalChannel::AsPolicySays => builder,
    };
    Ok(builder.observer(Arc::new(CompileProgress::new(status))))
}

/// Returns the builder of a host with these plugin directories.
fn of_plugins(places: &PluginPlaces, state: StatePlace) -> HostBuilder {
    match places {
        PluginPlaces::Named(directory) => Host::builder(directory, state),
        PluginPlaces::Usual { user: Some(user), project } => {
            // The defaults need not exist. A directory that the user has named must.
            Host::builder(user, state).further_plugins(project).plugins_may_be_missing()
        }
        PluginPlaces::Usual { user: None, project } => Host::builder(project, state).plugins_may_be_missing(),
    }
}

/// Tells a builder where the user's own directories are.
fn of_user(mut builder: HostBuilder, user: &UserDirectories) -> HostBuilder {
    if let Some(home) = &user.home {
        builder = builder.home(home);
    }
    if let Some(config) = &user.config {
        builder = builder.policy_directory(config);
    }
    builder
}

async fn finish(context: &Context, builder: HostBuilder, channel: &ApprovalChannel) -> anyhow::Result<Host> {
    let host = builder.open().await?;
    if let ApprovalChannel::Terminal(approver) = channel {
        // The approver needs the host to compare a change with the current files.
        approver.stand_before(&host);
    }
    note_rollback(host.approvals(), context);
    note_live_fault(context, &host);
    if let Some(untrusted) = host.untrusted_policy() {
        let style = context.terminal.note_style();
        context.terminal.note(style.paint(TextStyle::Doubtful, untrusted_note(&untrusted, context)));
    }
    warn(&host, context);
    Ok(host)
}

/// Warns if `portcullis watch` cannot see the calls of this host.
fn note_live_fault(context: &Context, host: &Host) {
    if let Some(fault) = host.live_fault() {
        let line = format!("warning: `portcullis watch` does not see the calls of this process: {fault}");
        context.terminal.note(context.terminal.note_style().paint(TextStyle::Doubtful, OneLine(&line)));
    }
}

/// Prints the warnings about the policy.
fn warn(host: &Host, context: &Context) {
    for warning in host.policy_warnings() {
        let line = format!("warning: {warning}");
        context.terminal.note(context.terminal.note_style().paint(TextStyle::Doubtful, line));
    }
}

fn with_policies(builder: HostBuilder, places: &PolicyPlaces) -> HostBuilder {
    match places {
        PolicyPlaces::Named(path) => builder.policy_file(path),
        PolicyPlaces::Usual { user: Some(user), project } => {
            builder.policy_file_if_exists(&user.path).project_policy(project)
        }
        PolicyPlaces::Usual { user: None, project } => builder.project_policy(project),
    }
}

/// Warns if this process found that the ledger was rolled back. Nothing in it is valid then.
pub(crate) fn note_rollback(approvals: &Approvals, context: &Context) {
    if let Some(rolled_back) = approvals.rolled_back() {
        let label = context.terminal.note_style().paint(TextStyle::Bad, "warning:");
        context.terminal.note(format_args!("{label} {rolled_back}"));
    }
}

/// Returns what to do about a project's policy that is not trusted.
pub(crate) fn untrusted_note(path: &Path, context: &Context) -> String {
    let shown = path.display().to_string();
    let typed = shown.strip_prefix("./").unwrap_or(&shown);
    format!(
        "{} is not trusted yet, so it can only narrow {}: review it, then run `portcullis trust {}`",
        OneLine(&shown),
        in_force(context),
        OneLine(typed)
    )
}

/// Returns the line about the policy of the user that is in force.
pub(crate) fn in_force_line(context: &Context) -> String {
    format!("decided by {}", in_force(context))
}

/// Says which policy of the user is in force.
pub(crate) fn in_force(context: &Context) -> String {
    let shown = |path: &Path| OneLine(&path.display().to_string()).to_string();
    match &context.environment.policy {
        PolicyPlaces::Named(path) => format!("the policy {}", shown(path)),
        PolicyPlaces::Usual { user: Some(UserPolicyFile { path, project: Some(project) }), .. } => {
            format!("the policy {} for {}", shown(path), shown(project))
        }
        // Without this file, only the built-in policy applies.
        PolicyPlaces::Usual { user: Some(UserPolicyFile { path, project: None }), .. } if path.exists() => {
            format!("the policy {}", shown(path))
        }
        PolicyPlaces::Usual { .. } => "the default policy, which denies everything".to_owned(),
    }
}

/// Loads a component under a name, up to its description, without a host. Returns the engine that can run it. Shares
/// compiled code with `portcullis test`.
///
/// # Errors
/// The engine cannot start. The inner error says why the component does not load.
pub(crate) async fn load(
    context: &Context,
    name: &str,
    bytes: &[u8],
) -> anyhow::Result<(Engine, Result<Loaded, LoadError>)> {
    let engine = Engine::new(&EngineConfig { calls: 1, largest: Limits::default(), store_value_bytes: 0 })?;
    let progress = CompileProgress::new(&StatusLine::new(context.terminal));
    let shown = PluginName::new(name).ok();
    if let Some(name) = &shown {
        // No catalog loads the component, so no one else tells the observer.
        progress.queued(name, bytes.len() as u64);
        progress.compiling(name);
    }
    let kept = KeptCode::of(bytes);
    let cache = kept.as_ref().map(KeptCode::cache);
    let loaded = Loaded::load(name, bytes, &engine, &Compiler::default(), cache.as_ref()).await;
    kept.iter().for_each(KeptCode::mark_used);
    shown.iter().for_each(|name| progress.compiled(name));
    Ok((engine, loaded))
}
