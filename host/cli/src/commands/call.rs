//! `portcullis call`: makes one call, under the policy.

use super::conduct::{INTERRUPTED, to_its_end};
use super::no_result::fail_as;
use super::streamed::Streamed;
use super::typed_arguments::read_arguments;
use super::{Context, reply, waiting};
use crate::approver::TerminalApprover;
use crate::arguments::{AskMode, CallArguments, CallerArguments};
use crate::exit_code::Exit;
use crate::failure::{FailureCode, WithCode};
use crate::opening::{self, ApprovalChannel};
use crate::own_confinement;
use crate::progress::StatusLine;
use anyhow::anyhow;
use portcullis::confinement::OwnNeeds;
use portcullis::policy::{Principal, PrincipalError, Unattended};
use portcullis::text::OneLine;
use portcullis::{Cancellation, Reply, Request};
use std::future::pending;
use std::sync::Arc;

pub(super) async fn run(arguments: CallArguments, context: &Context) -> anyhow::Result<Exit> {
    let bytes = read_arguments(arguments.arguments, context)?;
    let request = of_caller(Request::new(arguments.tool.clone(), bytes), &arguments.caller)?;
    let status = StatusLine::new(context.terminal);
    let cancellation = Cancellation::new();
    let ask = if arguments.no_ask { AskMode::Deny } else { arguments.ask };
    let host =
        opening::open_with(context, &status, &channel(ask, context, &status, &cancellation), &arguments.tool).await?;
    // Everything that the call needs is open by now. A guest that escapes finds no other rights.
    own_confinement::confine(&host, OwnNeeds::default(), context).await?;
    let beside = async {
        match ask {
            AskMode::Wait => waiting::tell(&host, context).await,
            AskMode::Auto | AskMode::Pending | AskMode::Deny => pending().await,
        }
    };
    // On a terminal the answer is shown while the tool writes it. A program gets it whole.
    let (request, stream) = match !context.json && context.terminal.shows_results() {
        true => {
            let (request, stream) = request.streamed();
            (request, Some(stream))
        }
        false => (request, None),
    };
    let mut streamed = Streamed::new(stream, &status, context);
    let call = host.call(request.cancellation(cancellation.clone()));
    let beside = async {
        tokio::select! {
            never = beside => never,
            never = streamed.follow() => never,
        }
    };
    let ended = to_its_end(&host, &status, &cancellation, call, beside).await?;
    let shown = streamed.end()?;
    let Some(reply) = ended else { return interrupted(context) };
    reply::show_after(&shown, &host, &reply, context)?;
    remind_of_trust(&host, &reply, context);
    remind_of_check(&host, &reply, context);
    // Commands of `notify` end with this process, and the last anchor must cover this call.
    host.approvals().notices_sent().await;
    host.anchor_audit().await;
    Ok(Exit::after(&reply))
}

fn interrupted(context: &Context) -> anyhow::Result<Exit> {
    fail_as(FailureCode::Interrupted, INTERRUPTED, Exit::ToolFailed, context)
}

/// Applies the caller's options to a request.
pub(super) fn of_caller(request: Request, caller: &CallerArguments) -> anyhow::Result<Request> {
    let refused = |error: PrincipalError| anyhow!("{error}: {}", error.remedy());
    let principal = caller.principal.clone().unwrap_or_default();
    let principal: Principal = match &caller.sub_agent {
        Some(name) => principal.attenuated(name).map_err(refused).code(FailureCode::Usage)?,
        None => principal,
    };
    let request = request.session(&caller.session).principal(principal);
    Ok(if caller.automated { request.automated() } else { request })
}

/// Returns who answers if the policy decides `ask`.
pub(super) fn channel(
    ask: AskMode,
    context: &Context,
    status: &Arc<StatusLine>,
    cancellation: &Cancellation,
) -> ApprovalChannel {
    match ask {
        AskMode::Auto if context.terminal.can_ask() => {
            ApprovalChannel::Terminal(Arc::new(TerminalApprover::new(context.terminal, status, cancellation)))
        }
        AskMode::Auto => ApprovalChannel::AsPolicySays,
        AskMode::Wait => ApprovalChannel::Elsewhere,
        AskMode::Pending => ApprovalChannel::NoApprover(Unattended::Pending),
        AskMode::Deny => ApprovalChannel::NoApprover(Unattended::Deny),
    }
}

/// Says how to find out why a plugin was refused. The reply, which is for models, does not say why.
fn remind_of_check(host: &portcullis::Host, reply: &Reply, context: &Context) {
    let catalog = host.catalog();
    let plugin = reply.tool.split('.').next().unwrap_or_default();
    let refused = catalog.refusal(plugin).filter(|_| reply.code == portcullis::Code::PluginRefused);
    if let Some(refused) = refused {
        if host.policy().servers().any(|server| server.as_str() == plugin) {
            context.terminal.note("`portcullis server list --try` shows why");
            return;
        }
        let file = context.environment.plugins.file(&refused.file).display().to_string();
        context.terminal.note(format_args!("`portcullis check {}` shows why, and what to do", OneLine(&file)));
    }
}

/// After a denial, notes that an untrusted policy exists, which might have allowed the call.
fn remind_of_trust(host: &portcullis::Host, reply: &Reply, context: &Context) {
    if let Some(path) = host.untrusted_policy().filter(|_| reply::wants_a_wider_policy(reply)) {
        context.terminal.note(opening::untrusted_note(&path, context));
    }
}
