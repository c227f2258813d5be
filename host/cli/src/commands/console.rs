//! `portcullis console`: serves the web page of a state directory on the loopback address, until stopped.

use super::Context;
use super::conduct::Interrupts;
use super::editing::FilePauseSwitch;
use crate::arguments::ConsoleArguments;
use crate::browser;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::style::TextStyle;
use portcullis::Host;
use portcullis_console::{ConsoleOptions, HostRequests, HostSource, Running, serve};
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What is printed below the link.
const ABOUT_THE_LINK: &str =
    "the link works once, for five minutes; SIGUSR1 prints another one, Ctrl-C stops the console";

pub(super) async fn run(arguments: &ConsoleArguments, context: &Context) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    // Without a listener, SIGUSR1 would end the process.
    let more = signal(SignalKind::user_defined1())?;
    let state = context.environment.state()?;
    let approvals = portcullis::open_approvals(context.environment.state_place()?).await?;
    opening::note_rollback(&approvals, context);
    let audit = portcullis::open_audit(context.environment.state_place()?).await?;
    // Most pages need no host, and opening one loads every plugin.
    let (host, requests) = HostSource::on_request();
    let policy = &context.environment.policy;
    let options = ConsoleOptions {
        state: state.to_owned(),
        approvals,
        audit,
        host,
        policy_files: policy.files(),
        pause: Arc::new(FilePauseSwitch::new(policy)),
        // The user of this machine owns the policy file, and so may end a pause.
        may_resume: true,
    };
    let running = serve(arguments.port, options).await?;
    let link = running.link()?;
    tell(&link, context)?;
    if arguments.open && !browser::open(&link) {
        context.terminal.note("no browser could be started: open the link yourself");
    }
    let mut host = None;
    tokio::select! {
        () = interrupts.next() => {}
        never = open_hosts(requests, &running, &mut host, context) => match never {},
        never = more_links(&running, more, context) => match never {},
    }
    running.stop().await;
    // Calls that were approved on a page may still run in this process. A second signal ends the wait.
    if let Some(host) = host {
        host.stop_loading();
        tokio::select! {
            _ = portcullis_mcp::http::settled(&host) => {}
            () = interrupts.next() => {}
        }
    }
    Ok(Exit::Completed)
}

/// Prints a login link: the document for programs, or a line for people.
fn tell(link: &str, context: &Context) -> anyhow::Result<()> {
    if context.json {
        return Ok(context
            .terminal
            .print(&json::document(DocumentKind::ConsoleLink, &serde_json::json!({ "url": link }))?)?);
    }
    context.terminal.print(&format!("{link}\n"))?;
    context.terminal.note(context.terminal.note_style().paint(TextStyle::Quiet, ABOUT_THE_LINK));
    Ok(())
}

/// Opens the host when a page first needs it, and keeps it up to date.
async fn open_hosts(
    mut requests: HostRequests,
    running: &Running,
    kept: &mut Option<Host>,
    context: &Context,
) -> Infallible {
    let mut watches = Vec::new();
    while let Some(request) = requests.next().await {
        let opened = opening::open_console(context).await;
        if let Ok(host) = &opened {
            // A plugin with network access must not reach the pages on which its calls are approved.
            host.keep_unreachable(running.address());
            // A watch that is dropped follows no changes any more.
            watches.push(host.watch());
            *kept = Some(host.clone());
        }
        request.answer(opened.map_err(|error| format!("{error:#}")));
    }
    pending().await
}

/// Prints another link at each SIGUSR1.
async fn more_links(running: &Running, mut signal: Signal, context: &Context) -> Infallible {
    while signal.recv().await.is_some() {
        if let Ok(link) = running.link() {
            // If the terminal is gone, no one reads the link.
            drop(tell(&link, context));
        }
    }
    pending().await
}
