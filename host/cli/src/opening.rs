//! Opens the library's host, or only its engine, as the command line asks.

use crate::approver::TerminalApprover;
use crate::context::Context;
use crate::environment::PolicyPlaces;
use crate::loading_notes::LoadingNotes;
use crate::progress::{CompileProgress, StatusLine};
use crate::style::TextStyle;
use portcullis::plugins::{Engine, EngineConfig, LoadError, Loaded, Observer};
use portcullis::policy::{Limits, PluginName, Unattended};
use portcullis::text::OneLine;
use portcullis::{Approvals, Compiler, Hook, Host, HostBuilder};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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
    let builder = builder(context, status, channel)?.calls(1).only_for(tool).share_sessions();
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
}

/// Opens the host of a server. Approvals come from `portcullis approvals`, or through the server. The terminal reports
/// plugins that become ready only after the server has started.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_serving(context: &Context, serving: ServeSettings) -> anyhow::Result<(Host, RuleGapNotes)> {
    let builder =
        builder(context, &StatusLine::new(context.terminal), &ApprovalChannel::Elsewhere)?.calls(serving.calls);
    let builder = if serving.session_is_named { builder.share_sessions() } else { builder };
    let builder = builder.load_in_background(serving.start_wait).observer(Arc::new(LoadingNotes(context.terminal)));
    let host = finish(context, builder, &ApprovalChannel::Elsewhere).await?;
    let gaps = note_rule_gaps(context, &host);
    Ok((host, gaps))
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
    let builder = Host::builder(plugins, environment.state()?);
    let observer = CompileProgress::new(&StatusLine::new(context.terminal));
    let builder = builder.approval_options(environment.place_options.iter().map(String::as_str));
    let builder = with_policies(builder, policy).answered_elsewhere().observer(Arc::new(observer)).hook(hook);
    let host = builder.open().await?;
    warn(&host, context);
    note_rule_gaps(context, &host);
    Ok(host)
}

/// Opens a host under another user's policy, to find out whether it can be used. Prints nothing and asks no approver.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_under(context: &Context, policy: &PolicyPlaces) -> anyhow::Result<Host> {
    let environment = &context.environment;
    let builder = Host::builder(&environment.plugins, environment.state()?);
    Ok(with_policies(builder, policy).calls(1).open().await?)
}

fn builder(context: &Context, status: &Arc<StatusLine>, channel: &ApprovalChannel) -> anyhow::Result<HostBuilder> {
    let environment = &context.environment;
    let builder = Host::builder(&environment.plugins, environment.state()?);
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

async fn finish(context: &Context, builder: HostBuilder, channel: &ApprovalChannel) -> anyhow::Result<Host> {
    let host = builder.open().await?;
    if let ApprovalChannel::Terminal(approver) = channel {
        approver.stand_before(&host);
    }
    note_rollback(host.approvals(), context);
    if let Some(untrusted) = host.untrusted_policy() {
        let style = context.terminal.note_style();
        context.terminal.note(style.paint(TextStyle::Doubtful, untrusted_note(&untrusted)));
    }
    warn(&host, context);
    Ok(host)
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
            builder.policy_file_if_exists(user).project_policy(project)
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
pub(crate) fn untrusted_note(path: &Path) -> String {
    let shown = path.display().to_string();
    let typed = shown.strip_prefix("./").unwrap_or(&shown);
    format!(
        "{} is not trusted yet, so it can only narrow: review it, then run `portcullis trust {}`",
        OneLine(&shown),
        OneLine(typed)
    )
}

/// Loads a component under a name, up to its description, without a host. Returns the engine that can run it.
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
    shown.iter().for_each(|name| progress.compiling(name));
    let loaded = Loaded::load(name, bytes, &engine, &Compiler::default()).await;
    shown.iter().for_each(|name| progress.compiled(name));
    Ok((engine, loaded))
}
