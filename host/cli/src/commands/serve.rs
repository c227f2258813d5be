//! `portcullis serve`: serves the tools of the plugin directory to agents over MCP, until stopped.

mod access;
mod console;
mod following;
mod ledger_notes;
mod operations;
mod token;

use super::Context;
use super::conduct::Interrupts;
use crate::arguments::{Answers, HttpArguments, ServeArguments, ToolNaming};
use crate::exit_code::Exit;
use crate::failure::{FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::opening::{self, ServeSettings};
use crate::own_confinement;
use crate::server_log;
use crate::style::TextStyle;
use crate::telemetry::Telemetry;
use console::SigningIn;
use following::{FollowedAccess, Following};
use portcullis::confinement::OwnNeeds;
use portcullis::policy::Principal;
use portcullis::{FileWatch, Host};
use portcullis_mcp::http::{self, Access, HttpOptions, METRICS_PATH, Operations, Reach, Running};
use portcullis_mcp::{ClientAnswers, DeniedTools, ListTools, Server, ServerOptions, ToolNames, serve_stdio_until};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

pub(super) async fn run(arguments: ServeArguments, context: &Context) -> anyhow::Result<Exit> {
    server_log::begin(context.terminal)?;
    // From now on a signal stops the server, and does not end the process in the middle of a call.
    let mut interrupts = Interrupts::without_hangup()?;
    // Without a listener, SIGHUP would end the process.
    let hangup = signal(SignalKind::hangup())?;
    let telemetry = Telemetry::begin().code(FailureCode::Usage)?;
    let serving = ServeSettings {
        calls: arguments.calls,
        session_is_named: arguments.session.is_some(),
        start_wait: arguments.start_wait,
        observer: telemetry.as_ref().and_then(|telemetry| telemetry.observer()),
    };
    let (host, gaps) = tokio::select! {
        opened = opening::open_serving(context, serving) => opened?,
        // Dropping the future that opens the host ends the compilations.
        () = interrupts.next() => return Ok(Exit::Completed),
    };
    let following = Following::begin(&host, gaps, hangup, context);
    let options = options(&arguments);
    let operator = options.principal.clone();
    // A misspelled toolset must not start a server that offers nothing.
    if let Some(toolset) = &options.toolset {
        host.policy().toolset(toolset).code(FailureCode::Usage)?;
    }
    let server = Server::new(host.clone(), options)?;
    let _watch = host.watch();
    let served = match arguments.transport.http {
        Some(address) => {
            let served = Served { server, address, arguments: &arguments.http, operator: &operator };
            over_http(served, following, &mut interrupts, telemetry.as_ref(), context).await
        }
        None => over_stdio(server, following, &mut interrupts, telemetry.as_ref(), context).await,
    };
    // No compile worker may outlive the process. The last anchor covers the last call.
    host.stop_loading();
    host.anchor_audit().await;
    served.map(|()| Exit::Completed)
}

fn options(arguments: &ServeArguments) -> ServerOptions {
    ServerOptions {
        principal: arguments.principal.clone().unwrap_or_default(),
        session: arguments.session.clone(),
        client_answers: match arguments.client_answers {
            Answers::NotAPerson => ClientAnswers::NotAPerson,
            Answers::Person => ClientAnswers::Person,
        },
        tool_names: match arguments.tool_names {
            ToolNaming::Full => ToolNames::Full,
            ToolNaming::Short => ToolNames::Short,
        },
        list_tools: if arguments.search { ListTools::Search } else { ListTools::All },
        toolset: arguments.toolset.clone(),
        denied_tools: if arguments.list_denied { DeniedTools::List } else { DeniedTools::Hide },
        resource_links: !arguments.no_resource_links,
        approval_wait: arguments.approval_wait,
        task_after: arguments.task_after,
    }
}

async fn over_stdio(
    server: Server,
    mut following: Following<'_>,
    interrupts: &mut Interrupts,
    telemetry: Option<&Arc<Telemetry>>,
    context: &Context,
) -> anyhow::Result<()> {
    let host = following.host;
    let needs = OwnNeeds { reloads: true, ports: ports(telemetry), ..OwnNeeds::default() };
    // Before a client is served, so that no call runs with rights that the host does not need.
    own_confinement::confine(host, needs, context).await?;
    let reports = telemetry.map(|telemetry| telemetry.reports(host, None));
    tracing::info!(target: "portcullis::server", event = "start", "serving {} over stdin and stdout", contents(host));
    let stop = Notify::new();
    let mut serving = pin!(serve_stdio_until(server, stop.notified()));
    let mut served = tokio::select! {
        served = &mut serving => Some(served),
        () = interrupts.next() => None,
        never = following.follow() => match never {},
    };
    if served.is_none() {
        // Wait until the client has its answers, or errors in their place. A second signal ends the wait.
        stop.notify_one();
        tokio::select! {
            stopped = &mut serving => served = Some(stopped),
            () = interrupts.next() => {}
        }
    }
    tokio::select! {
        // Calls that were cut off still have to write their audit entries.
        _ = http::settled(host) => {}
        () = interrupts.next() => {}
    }
    if let Some(reports) = reports {
        reports.end().await;
    }
    Ok(served.transpose().map(drop)?)
}

/// The server over HTTP, and its arguments.
struct Served<'a> {
    server: Server,
    address: SocketAddr,
    arguments: &'a HttpArguments,
    operator: &'a Principal,
}

/// A server that listens, and the lines about it for the user.
struct Listening {
    running: Running,
    console: Option<SigningIn>,
    operations: Option<Operations>,
    /// The files of tokens and keys, which may change.
    files: Vec<PathBuf>,
    line: String,
    look: TextStyle,
}

async fn over_http(
    served: Served<'_>,
    following: Following<'_>,
    interrupts: &mut Interrupts,
    telemetry: Option<&Arc<Telemetry>>,
    context: &Context,
) -> anyhow::Result<()> {
    let (host, arguments, operator) = (following.host, served.arguments, served.operator);
    let listening = listen(served, host, context).await?;
    // From here on, so that no change is missed.
    let changes = FileWatch::new(listening.files.clone());
    let needs = needs(listening.files.clone(), listening.console.is_some(), telemetry, context);
    // The sockets are bound by now. The confinement permits no new listener.
    own_confinement::confine(host, needs, context).await?;
    listening.tell(host, context)?;
    let Listening { running, console, operations, files, .. } = listening;
    let reports = telemetry.map(|telemetry| telemetry.reports(host, Some(running.counters())));
    // With --no-auth, there is no file to follow.
    let access = (!files.is_empty()).then_some(FollowedAccess {
        running: &running,
        arguments,
        operator,
        changes,
        files,
        console: console.as_ref(),
    });
    let mut following = Following { access, ..following };
    tokio::select! {
        () = interrupts.next() => {}
        never = following.follow() => match never {},
    }
    // It borrows the server, which `stop` consumes.
    drop(following);
    // Ends the event streams of its pages, which the server would wait for.
    drop(console);
    let under_way = host.calls_under_way();
    tracing::info!(target: "portcullis::server", event = "stop", under_way, "stopping; calls under way: {under_way}");
    tokio::select! {
        () = running.stop() => {}
        () = interrupts.next() => {}
    }
    // Until here, the metrics and the probes say what happens to the calls.
    drop(operations);
    if let Some(reports) = reports {
        reports.end().await;
    }
    tracing::info!(target: "portcullis::server", event = "stopped", "stopped");
    Ok(())
}

/// Returns the options of the transport, without pages.
fn http_options(address: SocketAddr, access: Access, arguments: &HttpArguments) -> HttpOptions {
    let mut options = HttpOptions::new(address, access);
    options.reach = if arguments.allow_remote { Reach::Remote } else { Reach::Loopback };
    options.hosts.clone_from(&arguments.allow_host);
    options.origins.clone_from(&arguments.allow_origin);
    (options.limits.calls_per_second, options.limits.calls_burst) = (arguments.calls_per_second, arguments.calls_burst);
    options
}

/// Starts to listen.
async fn listen(served: Served<'_>, host: &Host, context: &Context) -> anyhow::Result<Listening> {
    let Served { server, address, arguments, operator } = served;
    let told = access::of(arguments, operator, &host.policy(), context).code(FailureCode::AccessInvalid)?;
    let mut options = http_options(address, told.access, arguments);
    let mut signing_in = None;
    if arguments.console {
        let console = console::prepare(host, arguments, operator, context).await.code(FailureCode::AccessInvalid)?;
        options.pages = Some(console.pages);
        signing_in = Some(console.signing_in);
    }
    let running = http::serve(server, options).await.code(FailureCode::ListenFailed)?;
    let operations = arguments.metrics.map(|address| operations::options(address, arguments, host, &running));
    let operations = operations.map(|options| running.serve_operations(options)).transpose();
    let operations = operations.code(FailureCode::ListenFailed)?;
    let mut files: Vec<PathBuf> =
        told.file.into_iter().chain(signing_in.iter().map(|console| console.file.clone())).collect();
    // Callers and approvers may share one file, whose paths are then neighbours.
    files.dedup();
    Ok(Listening { running, console: signing_in, operations, files, line: told.line, look: told.look })
}

impl Listening {
    /// Prints the addresses that are served, and who can use them.
    fn tell(&self, host: &Host, context: &Context) -> anyhow::Result<()> {
        let (terminal, style) = (context.terminal, context.terminal.note_style());
        let (running, url) = (&self.running, self.running.url());
        tracing::info!(target: "portcullis::server", event = "start", url, "serving {} at {url}", contents(host));
        terminal.note(style.paint(self.look, &self.line));
        let console_url = self.console.as_ref().map(|_| format!("http://{}/", running.address()));
        if let (Some(console), Some(url)) = (&self.console, &console_url) {
            terminal.note(format_args!("serving the console at {url}"));
            terminal.note(style.paint(TextStyle::Quiet, &console.line));
        }
        let metrics_url = self.operations.as_ref().map(|own| format!("http://{}{METRICS_PATH}", own.address()));
        if let Some(url) = &metrics_url {
            terminal.note(format_args!("serving metrics at {url}"));
        }
        if !running.address().ip().is_loopback() {
            let line = "other machines can connect, and nothing is encrypted: put a TLS proxy in front";
            terminal.note(style.paint(TextStyle::Doubtful, line));
        }
        if context.json {
            let document = serde_json::json!({ "url": url, "console": console_url, "metrics": metrics_url });
            terminal.print(&json::document(DocumentKind::Server, &document)?)?;
        }
        Ok(())
    }
}

/// Returns what a server over HTTP needs. An approver at its console can pause the policy, which changes the user's
/// file.
fn needs(files: Vec<PathBuf>, has_console: bool, telemetry: Option<&Arc<Telemetry>>, context: &Context) -> OwnNeeds {
    let policy = context.environment.policy.of_user().filter(|_| has_console);
    let written = policy.into_iter().map(Path::to_owned).collect();
    OwnNeeds { reloads: true, files, written, ports: ports(telemetry) }
}

fn ports(telemetry: Option<&Arc<Telemetry>>) -> Vec<u16> {
    telemetry.map(|telemetry| telemetry.ports()).unwrap_or_default()
}

/// Serves a host at an address of this machine, to clients with the token of the state directory.
pub(super) async fn at(host: &Host, address: SocketAddr, context: &Context) -> anyhow::Result<Running> {
    let options = ServerOptions::default();
    let told = access::of(&HttpArguments::default(), &options.principal, &host.policy(), context);
    let told = told.code(FailureCode::AccessInvalid)?;
    let running = http::serve(Server::new(host.clone(), options)?, HttpOptions::new(address, told.access)).await;
    let running = running.code(FailureCode::ListenFailed)?;
    context.terminal.note(format_args!("serving {} at {}", contents(host), running.url()));
    context.terminal.note(context.terminal.note_style().paint(told.look, told.line));
    Ok(running)
}

/// Formats the number of tools and plugins, and of those that are missing.
fn contents(host: &Host) -> String {
    let catalog = host.catalog();
    let (tools, plugins) = (catalog.tools().count(), catalog.plugins().count());
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        many => format!("{many} {one}s"),
    };
    let mut contents = format!("{} of {}", counted(tools, "tool"), counted(plugins, "plugin"));
    let denied = catalog.tools().filter(|(plugin, tool)| !host.may_run(plugin, tool)).count();
    if denied > 0 {
        contents = format!("{contents}; the policy never lets {} run", counted(denied, "tool"));
    }
    match host.loading().len() {
        0 => {}
        compiling => contents = format!("{contents} ({} still being compiled)", counted(compiling, "plugin")),
    }
    match catalog.refused().len() {
        0 => contents,
        refused => format!("{contents} ({} refused: `portcullis list` shows why)", counted(refused, "plugin")),
    }
}
