//! `portcullis server list`: lists the servers of the policy.

use super::first_start::FirstStart;
use super::listed::{ListedPackage, ListedServer, ListedStart};
use super::packages::Packages;
use crate::arguments::ServerListArguments;
use crate::commands::login;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use portcullis::text::OneLine;
use serde_json::{Value, json};

/// Lists the servers.
///
/// # Errors
/// The policy cannot be used, or the output cannot be written.
pub(super) async fn run(arguments: &ServerListArguments, context: &Context) -> anyhow::Result<Exit> {
    let host = opening::open_policy(context).await?;
    let policy = host.policy();
    let installed = Packages::list(context)?;
    let mut servers = Vec::new();
    for name in policy.servers() {
        let mut server = ListedServer::of(&policy, name, &installed);
        // Most servers need no login, which is an error here.
        if let Ok(status) = host.login_status(name).await {
            server.login = Some(login::document(&status));
        }
        if arguments.start {
            let started = FirstStart::of(name, &context.environment.policy, context).await;
            server.start = Some(ListedStart::of(started));
        }
        servers.push(server);
    }
    if context.json {
        context.terminal.print(&json::document(DocumentKind::Servers, &json!({ "servers": servers }))?)?;
        return Ok(Exit::Completed);
    }
    if servers.is_empty() {
        context.terminal.note("the policy has no servers; `portcullis server add` adds one");
    }
    let (style, width) = (context.terminal.style(), context.terminal.width());
    let text: Vec<String> = servers.iter().map(|server| text(server, style, width)).collect();
    context.terminal.print(&text.join("\n"))?;
    Ok(Exit::Completed)
}

fn text(server: &ListedServer, style: Style, width: Option<usize>) -> String {
    let mut table = Table::default();
    let mut fact = |name: &str, look: TextStyle, value: &str| {
        table.row([TableCell::new(TextStyle::Quiet, name), TableCell::new(look, value)]);
    };
    let plain = TextStyle::Plain;
    if let Some(command) = &server.command {
        fact("program", plain, &command.join(" "));
    }
    if let Some(ListedPackage { spec, program, arguments, tree_sha256 }) = &server.package {
        fact("package", plain, spec);
        match tree_sha256 {
            Some(hash) => fact("sha256", plain, hash),
            None => {
                let install = format!("no: run `portcullis server install {}`", server.name);
                fact("installed", TextStyle::Bad, &install);
            }
        }
        if let Some(program) = program {
            fact("program", plain, program);
        }
        if !arguments.is_empty() {
            fact("arguments", plain, &arguments.join(" "));
        }
    }
    if let Some(url) = &server.url {
        fact("url", plain, url);
    }
    if let Some(login) = &server.login {
        match login["state"].as_str() {
            Some("logged-in") => fact("login", TextStyle::Good, &format!("at {}", text_of(&login["issuer"]))),
            Some("logged-out") => {
                fact("login", TextStyle::Bad, &format!("none: run `portcullis login {}`", server.name));
            }
            _ => fact("login", TextStyle::Bad, &format!("damaged: run `portcullis login {}`", server.name)),
        }
    }
    for directory in &server.directories {
        fact("directory", plain, &format!("{} {} ({})", directory.key, directory.path, directory.access));
    }
    let network = if server.network.is_empty() { "none".to_owned() } else { server.network.join(", ") };
    fact("network", plain, &network);
    for variable in &server.variables {
        let source = if variable.source == "policy" { "in the policy" } else { &variable.source };
        fact("variable", plain, &format!("{}: {source}", variable.name));
    }
    if let Some(ListedStart { starts, tools, problems }) = &server.start {
        match starts {
            true => fact("starts", TextStyle::Good, &format!("yes, and lists {tools} usable tools")),
            false => fact("starts", TextStyle::Bad, "no"),
        }
        problems.iter().for_each(|problem| fact("problem", TextStyle::Bad, problem));
    }
    let heading = style.paint(TextStyle::Strong, OneLine(&server.name));
    format!("{heading}\n{}", table.render_whole(style, "  ", width))
}

/// Returns a text of a document on one line.
fn text_of(value: &Value) -> String {
    OneLine(value.as_str().unwrap_or_default()).to_string()
}
