//! `portcullis login` and `portcullis logout`: log in to a server of the policy with the user's browser, and out again.

mod redirect;

use super::server::change::confirm;
use super::server::first_start::FirstStart;
use crate::arguments::{LoginArguments, LogoutArguments};
use crate::browser;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::style::TextStyle;
use crate::tty::Tty;
use crate::wrap::wrapped;
use anyhow::Context as _;
use portcullis::logins::{LoginStatus, OfferedLogin};
use portcullis::text::OneLine;
use redirect::Redirect;
use serde_json::json;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::timeout;

/// Maximum wait for the user's browser.
const BROWSER_TIME: Duration = Duration::from_secs(10 * 60);

/// Logs in to a server.
///
/// # Errors
/// The policy does not log in to the server, or the login failed.
pub(super) async fn log_in(arguments: &LoginArguments, context: &Context) -> anyhow::Result<Exit> {
    let (name, terminal) = (&arguments.server, context.terminal);
    let host = opening::open_policy(context).await?;
    let port = host.login_port(name).code(FailureCode::LoginFailed)?;
    let mut redirect = Redirect::bind(port).code(FailureCode::ListenFailed)?;
    let offer = host.offer_login(name, redirect.address()).await.code(FailureCode::LoginFailed)?;
    terminal.note(offered(name.as_str(), &offer));
    if let Some(exit) = confirm("Log in there?", arguments.yes, context).await? {
        return Ok(exit);
    }
    let login = offer.begin().await.code(FailureCode::LoginFailed)?;
    let page = OneLine(login.page()).to_string();
    let is_opened = !arguments.no_browser && browser::open(login.page());
    let style = terminal.note_style();
    terminal.note(match is_opened {
        true => format!("your browser opens {}", style.paint(TextStyle::Strong, &page)),
        false => format!("open this page: {}", style.paint(TextStyle::Strong, &page)),
    });
    // Any page can make the browser come here, and any text can be pasted.
    let is_answer = |address: &str| login.is_answered_by(address);
    let answer = async {
        // Without a terminal, only the browser can bring the answer.
        match Tty::open().ok().filter(|_| terminal.can_ask()) {
            Some(tty) => {
                terminal.note("if the browser runs on another machine, paste the address to which it returned");
                tokio::select! {
                    address = redirect.answer(is_answer) => address,
                    address = pasted(&tty, is_answer) => address,
                }
            }
            None => redirect.answer(is_answer).await,
        }
    };
    let minutes = BROWSER_TIME.as_secs() / 60;
    let address = timeout(BROWSER_TIME, answer).await;
    let address = address.with_context(|| format!("the browser did not return within {minutes} minutes"));
    let finished = login.finish(&address.code(FailureCode::LoginFailed)?).await;
    // A browser gets its page also if the login has failed.
    redirect.close().await;
    let status = finished.code(FailureCode::LoginFailed)?;
    drop(host);
    if !context.json {
        terminal.note(format_args!("logged in to {name}; running hosts use it within a few seconds"));
    }
    let started = FirstStart::of(name, &context.environment.policy, context).await?;
    if context.json {
        let document = json!({ "server": name, "login": document(&status), "start": started });
        terminal.print(&json::document(DocumentKind::Login, &document)?)?;
    } else {
        terminal.print(&wrapped(&started.text(name, context)?, terminal.width()))?;
    }
    Ok(if started.starts { Exit::Completed } else { Exit::PluginRefused })
}

/// Logs out of a server.
///
/// # Errors
/// The policy does not log in to the server, or the state directory cannot be written.
pub(super) async fn log_out(arguments: &LogoutArguments, context: &Context) -> anyhow::Result<Exit> {
    let (name, terminal) = (&arguments.server, context.terminal);
    let host = opening::open_policy(context).await?;
    let done = host.log_out(name).await.code(FailureCode::LoginFailed)?;
    if context.json {
        let document = json!({
            "server": name,
            "was_logged_in": done.was_logged_in,
            "revoked": done.is_revoked,
            "fault": done.fault,
        });
        terminal.print(&json::document(DocumentKind::Logout, &document)?)?;
        return Ok(Exit::Completed);
    }
    match (done.was_logged_in, done.is_revoked, &done.fault) {
        (false, ..) => terminal.note(format_args!("{name} had no login")),
        (true, true, _) => terminal.note(format_args!("logged out of {name}; its token is revoked")),
        (true, false, None) => {
            terminal
                .note(format_args!("logged out of {name}; its server cannot revoke tokens, so the token ends later"));
        }
        (true, false, Some(fault)) => {
            terminal.note(format_args!("logged out of {name}, but its token is not revoked: {}", OneLine(fault)));
        }
    }
    Ok(Exit::Completed)
}

/// Returns who would be asked to log in, and for what.
fn offered(name: &str, offer: &OfferedLogin) -> String {
    let mut text = format!("{name} lets users log in at {}", OneLine(offer.issuer()));
    let origins = offer.origins();
    if !origins.is_empty() {
        text.push_str(&format!("\nother sites that take part: {}", OneLine(&origins.join(", "))));
    }
    let scopes = match offer.scopes() {
        [] => "what the server decides".to_owned(),
        scopes => OneLine(&scopes.join(" ")).to_string(),
    };
    text.push_str(&format!("\nthe token permits: {scopes}"));
    text
}

/// Waits until the user has typed an address that belongs to the login.
async fn pasted(tty: &Tty, is_answer: impl Fn(&str) -> bool) -> String {
    while let Ok(Some(line)) = tty.line().await {
        if is_answer(line.trim()) {
            return line.trim().to_owned();
        }
    }
    // The terminal was closed, and the browser may still return.
    std::future::pending().await
}

/// Returns a login for programs.
pub(super) fn document(status: &LoginStatus) -> serde_json::Value {
    match status {
        LoginStatus::LoggedIn { issuer, scopes, ends_at } => json!({
            "state": "logged-in",
            "issuer": issuer,
            "scopes": scopes,
            "ends_at": ends_at.and_then(seconds),
        }),
        LoginStatus::Damaged => json!({ "state": "damaged" }),
        _ => json!({ "state": "logged-out" }),
    }
}

/// Returns a time as seconds of Unix time.
fn seconds(time: SystemTime) -> Option<u64> {
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs())
}
