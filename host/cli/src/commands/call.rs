//! `portcullis call`: one call, under the policy, recorded.

use super::conduct::{INTERRUPTED, to_its_end};
use super::streamed::Streamed;
use super::{Context, reply, waiting};
use crate::approver::TerminalApprover;
use crate::arguments::{Ask, CallArguments, CallerArguments};
use crate::exit_code::Exit;
use crate::opening::{self, Channel};
use crate::progress::StatusLine;
use anyhow::anyhow;
use portcullis::policy::{Principal, PrincipalError, Unattended};
use portcullis::text::OneLine;
use portcullis::{Cancellation, Reply, Request};
use std::future::pending;
use std::sync::Arc;

pub(super) async fn run(arguments: CallArguments, context: &Context) -> anyhow::Result<Exit> {
    let bytes = super::read_arguments(arguments.arguments, context)?;
    let request = of_caller(Request::new(arguments.tool.clone(), bytes), &arguments.caller)?;
    let status = StatusLine::new(context.terminal);
    let cancellation = Cancellation::new();
    let ask = if arguments.no_ask { Ask::Deny } else { arguments.ask };
    let host =
        opening::open_with(context, &status, &channel(ask, context, &status, &cancellation), &arguments.tool).await?;
    let beside = async {
        match ask {
            Ask::Wait => waiting::tell(&host, context).await,
            Ask::Auto | Ask::Pending | Ask::Deny => pending().await,
        }
    };
    // A program gets the answer whole; a person sees it as it is written.
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
    let Some(reply) = ended else { return super::fail(INTERRUPTED, Exit::ToolFailed, context) };
    reply::show_after(&shown, &host, &reply, context)?;
    remind_of_trust(&host, &reply, context);
    remind_of_check(&host, &reply, context);
    Ok(Exit::after(&reply))
}

/// A request on behalf of whoever was named.
pub(super) fn of_caller(request: Request, caller: &CallerArguments) -> anyhow::Result<Request> {
    let refused = |error: PrincipalError| anyhow!("{error}: {}", error.remedy());
    let principal = caller.principal.clone().unwrap_or_default();
    let principal: Principal = match &caller.sub_agent {
        Some(name) => principal.attenuated(name).map_err(refused)?,
        None => principal,
    };
    let request = request.session(&caller.session).principal(principal);
    Ok(if caller.automated { request.automated() } else { request })
}

/// Who answers where the policy says ask.
pub(super) fn channel(ask: Ask, context: &Context, status: &Arc<StatusLine>, cancellation: &Cancellation) -> Channel {
    match ask {
        Ask::Auto if context.terminal.can_ask() => {
            Channel::Terminal(Arc::new(TerminalApprover::new(context.terminal, status, cancellation)))
        }
        Ask::Auto => Channel::AsPolicySays,
        Ask::Wait => Channel::Elsewhere,
        Ask::Pending => Channel::Nobody(Unattended::Pending),
        Ask::Deny => Channel::Nobody(Unattended::Deny),
    }
}

/// A model hears that a plugin was refused; a person can learn why.
fn remind_of_check(host: &portcullis::Host, reply: &Reply, context: &Context) {
    let catalog = host.catalog();
    let plugin = reply.tool.split('.').next().unwrap_or_default();
    let refused = catalog.refusal(plugin).filter(|_| reply.code == portcullis::Code::PluginRefused);
    if let Some(refused) = refused {
        let file = context.environment.plugins.join(&refused.file).display().to_string();
        context.terminal.note(format_args!("`portcullis check {}` says why, and what to do", OneLine(&file)));
    }
}

/// A call that was denied for want of what an untrusted policy would give says so where the denial is read.
fn remind_of_trust(host: &portcullis::Host, reply: &Reply, context: &Context) {
    if let Some(path) = host.untrusted_policy().filter(|_| reply::wants_a_wider_policy(reply)) {
        context.terminal.note(opening::untrusted_note(&path));
    }
}
