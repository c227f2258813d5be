//! What `init` shows: the plan before it is written, and the end.

use super::places::InitPlaces;
use super::plan::{ClientChange, ClientStep, InitPlan};
use super::trial::TrialCall;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::style::{Style, TextStyle};
use crate::unified_diff::unified;
use portcullis::text::{Lines, OneLine};
use serde_json::{Value, json};

/// Maximum lines of a tool's answer that are shown. It is only an example.
const ANSWER_LINES_MAX: usize = 8;

/// Returns the plan as text.
pub(super) fn plan(plan: &InitPlan, places: &InitPlaces, context: &Context) -> String {
    let style = context.terminal.style();
    let mut text = String::new();
    let file = places.shown(&places.policy);
    match &plan.policy {
        Some(policy) => text.push_str(&shown_diff(&file, None, policy, style)),
        None => text.push_str(&line(style, "policy", &format!("{file} is there already, and stays as it is"))),
    }
    text.push_str(&plugins(plan, places, style));
    if plan.clients.is_empty() {
        text.push_str(&line(style, "agents", "none found here: name one with --client, see `portcullis init --help`"));
    }
    for step in &plan.clients {
        text.push_str(&client(step, places, style));
    }
    text
}

fn plugins(plan: &InitPlan, places: &InitPlaces, style: Style) -> String {
    let plugins = &plan.plugins;
    let mut text = String::new();
    let Some(directory) = places.plugins.as_deref().map(|directory| places.shown(directory)) else { return text };
    let names: Vec<&str> = plugins.missing.iter().map(|plugin| plugin.name.as_str()).collect();
    if !names.is_empty() {
        text.push_str(&line(style, "plugins", &format!("install {} in {directory}", names.join(", "))));
    }
    if !plugins.installed.is_empty() {
        text.push_str(&line(style, "plugins", &format!("{} are in {directory}", plugins.installed.join(", "))));
    }
    if !plugins.other.is_empty() {
        let others = plugins.other.join(", ");
        text.push_str(&line(
            style,
            "plugins",
            &format!("{others} in {directory} differ from those of this program, and stay"),
        ));
    }
    if !plugins.looked_in.is_empty() {
        let places: Vec<String> = plugins.looked_in.iter().map(|place| place.display().to_string()).collect();
        let what =
            format!("none come with this program (looked in {}): copy them to {directory}", places.join(" and "));
        text.push_str(&line(style, "plugins", &what));
    }
    text
}

fn client(step: &ClientStep, places: &InitPlaces, style: Style) -> String {
    let title = step.client.title();
    match &step.change {
        ClientChange::Present(file) => {
            line(style, "agent", &format!("{title}: {} has the server already", places.shown(&file.path)))
        }
        ClientChange::Write { file, after } => {
            let mut text = String::new();
            if file.target != file.path {
                let what = format!("{title}: {} leads to {}", places.shown(&file.path), file.target.display());
                text.push_str(&line(style, "agent", &what));
            }
            text + &shown_diff(&places.shown(&file.path), file.before.as_deref(), after, style)
        }
        ClientChange::Left(left) => {
            let what = format!("{title}: {} is left alone: {}. Add this yourself:", places.shown(&left.path), left.why);
            format!("{}{}", line(style, "agent", &what), Lines(&left.lines))
        }
    }
}

fn line(style: Style, label: &str, what: &str) -> String {
    format!("{} {}\n", style.paint(TextStyle::Quiet, format!("{label:<8}")), OneLine(what))
}

/// Returns the difference of a file, and a blank line.
fn shown_diff(path: &str, before: Option<&str>, after: &str, style: Style) -> String {
    unified(path, before, after, style) + "\n"
}

/// Shows the end of `init`: the call, and what to do next.
///
/// # Errors
/// The output cannot be written.
pub(super) fn end(plan: &InitPlan, places: &InitPlaces, call: &TrialCall, context: &Context) -> anyhow::Result<Exit> {
    if context.json {
        context.terminal.print(&json::document(DocumentKind::Init, &document(plan, places, call))?)?;
        return Ok(call.exit);
    }
    let style = context.terminal.style();
    let mut text = String::new();
    if plan.is_empty() {
        text.push_str("\nAlready set up: nothing was changed.\n");
    }
    text.push_str(&format!("\n{}\n", style.paint(TextStyle::Strong, format!("$ {}", call.command))));
    let lines: Vec<&str> = call.text.lines().collect();
    for line in lines.iter().take(ANSWER_LINES_MAX) {
        // `OneLine` would show a tab as an escape.
        text.push_str(&format!("{}\n", OneLine(&line.replace('\t', "  "))));
    }
    if lines.len() > ANSWER_LINES_MAX {
        text.push_str(&format!("... and {} more lines\n", lines.len() - ANSWER_LINES_MAX));
    }
    text.push('\n');
    for step in &plan.clients {
        if !matches!(step.change, ClientChange::Left(_)) {
            text.push_str(&line(style, "next", &format!("{}: {}", step.client.title(), step.client.next())));
        }
    }
    text.push_str(&line(style, "tools", "portcullis list"));
    text.push_str(&line(style, "answer", "portcullis watch, or portcullis console --open"));
    text.push_str(&line(style, "undo", "portcullis init --undo"));
    context.terminal.print(&text)?;
    Ok(call.exit)
}

fn document(plan: &InitPlan, places: &InitPlaces, call: &TrialCall) -> Value {
    let client = |step: &ClientStep| {
        let (state, file, why) = match &step.change {
            ClientChange::Present(file) => ("present", &file.path, None),
            ClientChange::Write { file, .. } => ("written", &file.path, None),
            ClientChange::Left(left) => ("left-alone", &left.path, Some(&left.why)),
        };
        json!({ "client": step.client.name(), "file": file, "state": state, "reason": why })
    };
    let installed: Vec<&str> = plan.plugins.missing.iter().map(|plugin| plugin.name.as_str()).collect();
    json!({
        "project": places.project,
        "changed": !plan.is_empty(),
        "policy": { "file": places.policy, "written": plan.policy.is_some() },
        "plugins": { "installed": installed, "present": plan.plugins.installed, "differ": plan.plugins.other },
        "clients": plan.clients.iter().map(client).collect::<Vec<_>>(),
        "call": { "command": call.command, "exit_code": call.exit.number(), "text": call.text },
    })
}
