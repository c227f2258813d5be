//! The policy: its files with line numbers, which rules matched lately, and what would happen to a call.

use super::frame::{Section, framed, token};
use super::rows::decision;
use crate::console::ConsoleState;
use crate::guard::ConsoleForm;
use crate::html::{cell, count, shown};
use crate::log::LogFilter;
use crate::policy_text;
use crate::query::PageQuery;
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use maud::{Markup, html};
use portcullis::policy::Principal;
use portcullis::text::{OneLine, is_deceptive};
use portcullis::{Explained, Outlook, Request};
use std::collections::HashMap;
use std::sync::Arc;

/// A call to explain, as its form has it.
#[derive(Clone, Default)]
struct CallToExplain {
    tool: String,
    arguments: String,
    session: String,
    principal: String,
}

/// Shows the policy, and the form for a call. The query can name a call of the log.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    query: RawQuery,
) -> Response {
    let query = PageQuery::of(query);
    let call = match query.get("call") {
        "" => CallToExplain::default(),
        call => of_log(&state, call).await,
    };
    let content = page(&state, &session, &call, &html! {}).await;
    framed(&state, &session, Section::Policy, "Policy", &content).await
}

/// Shows what would happen to the call of a form. It changes nothing.
pub(crate) async fn explain(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    Extension(form): Extension<ConsoleForm>,
) -> Response {
    let field = |name: &str| form.get(name).to_owned();
    let call = CallToExplain {
        tool: field("tool"),
        arguments: field("arguments"),
        session: field("session"),
        principal: field("principal"),
    };
    let result = result(&state, &call).await;
    let content = page(&state, &session, &call, &result).await;
    framed(&state, &session, Section::Policy, "Policy", &content).await
}

/// Returns a call of the log, as far as the log keeps it.
async fn of_log(state: &ConsoleState, call: &str) -> CallToExplain {
    let entries = state.log.entries(call).await.unwrap_or_default();
    let text = |name: &str| {
        let found = entries.iter().find_map(|entry| entry.document.get(name).and_then(serde_json::Value::as_str));
        found.unwrap_or_default().to_owned()
    };
    CallToExplain {
        tool: text("tool"),
        arguments: text("arguments"),
        session: text("session"),
        principal: text("principal"),
    }
}

async fn page(state: &ConsoleState, session: &ConsoleSession, call: &CallToExplain, result: &Markup) -> Markup {
    let mut files = Vec::new();
    for path in &state.policy_files {
        files.push((path.display().to_string(), policy_text::read(path).await));
    }
    // If the log cannot be read, the policy is still shown.
    let _ = state.log.refresh().await;
    let status = state.host.get().await.map(|host| host.policy_status().borrow().clone());
    let matches = status.as_ref().map(|status| matches(state, &status.sha256)).unwrap_or_default();
    html! {
        section.page.policy {
            h1 { "Policy" }
            @match &status {
                Ok(status) => { @if let Some(fault) = &status.fault { p.warning role="alert" { b { "The file cannot be used; an older policy is in force: " } (shown(fault)) } } }
                Err(why) => { p.warning role="alert" { b { "The policy cannot be used: " } (shown(why)) } }
            }
            (form(session, call))
            (result)
            @for (place, (path, text)) in files.iter().enumerate() {
                @match text {
                    // The first file is the user's. The log and links name lines of this one.
                    Ok(Some(text)) => { (file(path, text, (place == 0).then_some(&matches))) }
                    Ok(None) => {}
                    Err(error) => { p.warning { (cell(path)) ": " (cell(&error.to_string())) } }
                }
            }
        }
    }
}

/// Counts the calls that the rule of each line decided, under the policy in force.
fn matches(state: &ConsoleState, sha256: &str) -> HashMap<u64, usize> {
    let mut matches = HashMap::new();
    for row in state.log.rows(&LogFilter::default()).0 {
        if let (Some(line), true) = (row.line, row.policy_sha256 == sha256) {
            *matches.entry(line).or_default() += 1;
        }
    }
    matches
}

/// Shows a file. Its lines have ids and counts if the calls that they decided are given.
fn file(path: &str, text: &str, matches: Option<&HashMap<u64, usize>>) -> Markup {
    html! {
        figure.diff.source {
            figcaption { span { (cell(path)) } @if matches.is_some() { span.stat { "calls decided by each rule" } } }
            pre tabindex="0" role="region" aria-label="Policy file" {
                @for (number, line) in (1_u64..).zip(text.lines()) {
                    span id=[matches.map(|_| format!("line-{number}"))] {
                        i { (number) }
                        @if let Some(calls) = matches.and_then(|matches| matches.get(&number)) { small title=(count(*calls, "call")) { (calls) "×" } }
                        (OneLine(line)) "\n"
                    }
                }
            }
        }
    }
}

/// Returns a text for a field of a form, or nothing if it could deceive. The field cannot show it encoded, because the
/// form sends what it shows.
fn harmless(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let deceives = text.chars().any(|character| is_deceptive(character) && !matches!(character, '\n' | '\t'));
    if deceives { String::new() } else { text }
}

fn form(session: &ConsoleSession, call: &CallToExplain) -> Markup {
    html! {
        form.explain method="post" action="/policy/explain" {
            (token(session))
            h2 { "What would happen if" }
            @if !call.tool.is_empty() && call.arguments.is_empty() {
                p.hint { "The log keeps no arguments of this call. Type them." }
            }
            div.fields {
                label { "Tool" input name="tool" value=(harmless(&call.tool)) required placeholder="files.read" autocomplete="off" spellcheck="false"; }
                label { "Session" input name="session" value=(harmless(&call.session)) placeholder="default" autocomplete="off"; }
                label { "Principal" input name="principal" value=(harmless(&call.principal)) placeholder="local" autocomplete="off"; }
            }
            // HTML ignores a line feed at the beginning of a text area, so add one to keep that of the text.
            label { "Arguments, as JSON" textarea name="arguments" rows="3" spellcheck="false" placeholder="{ \"path\": \"src/main.rs\" }" { "\n" (harmless(&call.arguments)) } }
            p { button type="submit" { "Explain" } " " span.hint { "Runs nothing, asks no one and records nothing." } }
        }
    }
}

async fn result(state: &ConsoleState, call: &CallToExplain) -> Markup {
    let host = match state.host.get().await {
        Ok(host) => host,
        Err(why) => return html! { p.warning { (shown(&why)) } },
    };
    let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    // An approver could answer here, so do not foresee the refusal of a call without one.
    let mut request = Request::new(call.tool.trim(), arguments.as_bytes()).answered_elsewhere();
    if !call.session.is_empty() {
        request = request.session(&call.session);
    }
    if !call.principal.is_empty() {
        let Ok(principal) = call.principal.parse::<Principal>() else {
            return html! { p.warning { "The principal is not a name such as " code { "local" } "." } };
        };
        request = request.principal(principal);
    }
    match host.explain(request).await {
        Ok(explained) => outlook(&explained),
        Err(reply) => html! {
            section.result role="status" { p { b { "It would be refused: " } code { (reply.code.to_string()) } } p { (shown(&reply.message)) } }
        },
    }
}

fn outlook(explained: &Explained) -> Markup {
    let verdict = &explained.explanation.verdict;
    html! {
        section.result role="status" {
            p.big {
                @match &explained.outlook {
                    Outlook::Run { .. } => "It would run.",
                    Outlook::Ask { .. } => "It would ask you.",
                    Outlook::Refuse { .. } => "It would not run.",
                }
            }
            p { (decision(verdict.decision.as_str())) " · " (shown(&verdict.reason)) }
            @match &explained.outlook {
                Outlook::Ask { reason, .. } => { p.why { (shown(reason)) } }
                Outlook::Refuse { code, message } => { p.why { code { (code.to_string()) } " " (shown(message)) } }
                Outlook::Run { .. } => {}
            }
            dl {
                dt { "arguments" } dd { code { (shown(&explained.arguments)) } }
                @for handle in &explained.handles { dt { "gets" } dd { (shown(handle)) } }
                @for matched in &explained.explanation.matched {
                    dt { (shown(&matched.rule.to_string())) }
                    dd { (decision(matched.decision.as_str())) " " code { (shown(&matched.tool)) } @if matched.decisive { " · decides" } }
                }
                @for change in &explained.explanation.changes { dt { "to change it" } dd { (shown(change)) } }
            }
        }
    }
}
