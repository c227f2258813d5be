//! What `import` shows: the plan before it is written, and the end. No value of a variable is in it, except for those
//! that the policy gets.

use super::applying::AppliedImport;
use super::plan::{ImportPlan, PlannedServer, ServerState};
use super::replacing::{ReplacedFile, replaced_names};
use crate::arguments::ImportArguments;
use crate::commands::editing::KnownPolicy;
use crate::commands::server::change::ServerChange;
use crate::commands::server::first_start::FirstStart;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::style::{Style, TextStyle};
use crate::wrap::wrapped;
use portcullis::text::OneLine;
use portcullis_policy_edit::{PolicyEdit, apply};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Returns the plan as text.
pub(super) fn plan(plan: &ImportPlan, known: &KnownPolicy, arguments: &ImportArguments, context: &Context) -> String {
    let style = context.terminal.style();
    let (text, refused) = planned_text(plan, known);
    let mut shown = ServerChange { known, text, notes: Vec::new() }.difference(style);
    if !shown.is_empty() {
        shown.push('\n');
    }
    let mut lines = String::new();
    let mut line = |label: &str, what: &str| {
        lines.push_str(&format!("{} {}\n", style.paint(TextStyle::Quiet, format!("{label:<8}")), OneLine(what)));
    };
    for (_, proposal) in plan.proposals() {
        let name = &proposal.edit.name;
        proposal.notes.iter().for_each(|note| line("note", &format!("{name}: {note}")));
        for variable in &proposal.to_set {
            line("set", &format!("{name} needs the variable {variable} of the host"));
        }
        for file in &proposal.files {
            line("secret", &format!("{name}: a secret goes to {}", file.path.display()));
        }
        if proposal.edit.hosts.is_empty() {
            line("note", &format!("{name} gets no network: if it needs hosts, add network = {{ hosts = [\"HOST\"] }}"));
        }
    }
    for (at, server) in plan.servers.iter().enumerate() {
        let from = origin(plan, server);
        match (&server.state, refused.iter().find(|(refused, _)| *refused == at)) {
            (ServerState::LeftOut(why), _) => line("left out", &format!("{} of {from}: {why}", server.written)),
            (ServerState::Present(name), _) => {
                line("present", &format!("{} of {from} is the server {name}", server.written))
            }
            (ServerState::New(_), Some((_, why))) => line("left out", &format!("{} of {from}: {why}", server.written)),
            (ServerState::New(proposal), None) => {
                line("import", &format!("{} of {from} becomes {}", server.written, proposal.edit.name));
            }
        }
    }
    for (path, why) in &plan.problems {
        line("problem", &format!("{} is left alone: {why}", path.display()));
    }
    if arguments.replace {
        for (at, source) in plan.sources.iter().enumerate() {
            // Nothing was imported yet, so this assumes that every new server will be.
            let names = replaced_names(plan, at, |_| true);
            if !names.is_empty() {
                let path = source.path.display();
                line("replace", &format!("{} in {path} by portcullis; a copy of the file stays", names.join(", ")));
            }
        }
    }
    shown + &wrapped(&lines, context.terminal.width())
}

/// Returns the policy with all proposals, and those that it does not accept.
fn planned_text(plan: &ImportPlan, known: &KnownPolicy) -> (String, Vec<(usize, String)>) {
    let (mut text, mut refused) = (known.file.text().to_owned(), Vec::new());
    for (at, proposal) in plan.proposals() {
        match apply(&known.layers(&text), &PolicyEdit::AddServer(proposal.edit.clone()), &[]) {
            Ok(edited) => text = edited.text,
            Err(error) => refused.push((at, error.to_string())),
        }
    }
    (text, refused)
}

/// Shows the end. `applied` is `None` if nothing was written.
///
/// # Errors
/// The output cannot be written.
pub(super) fn end(
    plan: &ImportPlan,
    known: &KnownPolicy,
    applied: Option<&AppliedImport>,
    context: &Context,
) -> anyhow::Result<Exit> {
    match context.json {
        true => context.terminal.print(&json::document(DocumentKind::Import, &document(plan, known, applied))?)?,
        false => context.terminal.print(&wrapped(&ended(plan, applied, context)?, context.terminal.width()))?,
    }
    let failed = applied.is_some_and(|applied| {
        !applied.problems.is_empty() || applied.outcomes.values().any(|outcome| !is_started(outcome))
    });
    Ok(match failed || !plan.problems.is_empty() {
        true => Exit::ToolFailed,
        false => Exit::Completed,
    })
}

fn is_started(outcome: &Result<FirstStart, String>) -> bool {
    outcome.as_ref().is_ok_and(|started| started.starts)
}

fn ended(plan: &ImportPlan, applied: Option<&AppliedImport>, context: &Context) -> anyhow::Result<String> {
    let Some(applied) = applied else {
        return Ok(match plan.proposals().next() {
            None if plan.servers.is_empty() => "No server was found to import.\n".to_owned(),
            _ => "Nothing was changed.\n".to_owned(),
        });
    };
    let style = context.terminal.style();
    let mut text = String::new();
    for (at, proposal) in plan.proposals() {
        let name = &proposal.edit.name;
        match applied.outcomes.get(&at) {
            Some(Ok(started)) => text.push_str(&started.text(name, context)?),
            Some(Err(why)) => text.push_str(&failed(style, &format!("{name} is left out"), why)),
            None => {}
        }
    }
    for ReplacedFile { path, copy, removed } in &applied.replaced {
        let (path, copy) = (path.display().to_string(), copy.display().to_string());
        let removed = removed.join(", ");
        text.push_str(&format!(
            "{} {} in {} by portcullis; the file as it was is {}\n",
            style.paint(TextStyle::Good, "replaced"),
            OneLine(&removed),
            OneLine(&path),
            OneLine(&copy)
        ));
    }
    for (path, why) in &applied.problems {
        text.push_str(&failed(style, &format!("{} is left alone", path.display()), why));
    }
    Ok(text)
}

fn failed(style: Style, what: &str, why: &str) -> String {
    format!("{} {}: {}\n", style.paint(TextStyle::Bad, "problem:"), OneLine(what), OneLine(why))
}

/// Returns the files that have a server.
fn origin(plan: &ImportPlan, server: &PlannedServer) -> String {
    let files = server.found_in.iter().filter_map(|at| plan.sources.get(*at));
    let files: Vec<String> = files.map(|source| source.path.display().to_string()).collect();
    files.join(" and ")
}

fn document(plan: &ImportPlan, known: &KnownPolicy, applied: Option<&AppliedImport>) -> Value {
    let text = applied.map_or_else(|| planned_text(plan, known).0, |applied| applied.text.clone());
    let change = ServerChange { known, text, notes: Vec::new() };
    let problem = |(path, why): &(PathBuf, String)| json!({ "file": path_text(path), "reason": why });
    let problems = plan.problems.iter().chain(applied.iter().flat_map(|applied| &applied.problems)).map(problem);
    let replaced = applied
        .iter()
        .flat_map(|applied| &applied.replaced)
        .map(|file| json!({ "file": path_text(&file.path), "copy": path_text(&file.copy), "servers": file.removed }));
    let servers = plan.servers.iter().enumerate();
    json!({
        "policy": path_text(&known.file.shown),
        "changed": applied.is_some_and(|applied| applied.text != known.file.text()),
        "difference": change.difference(Style::Plain),
        "servers": servers.map(|(at, server)| server_document(plan, at, server, applied)).collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
        "replaced": replaced.collect::<Vec<_>>(),
    })
}

fn server_document(plan: &ImportPlan, at: usize, server: &PlannedServer, applied: Option<&AppliedImport>) -> Value {
    let outcome = applied.and_then(|applied| applied.outcomes.get(&at));
    let (state, name, reason) = match (&server.state, outcome) {
        (ServerState::New(_), Some(Err(why))) => ("left-out", None, Some(why.clone())),
        (ServerState::New(proposal), Some(Ok(_))) => ("imported", Some(&proposal.edit.name), None),
        (ServerState::New(proposal), None) => ("proposed", Some(&proposal.edit.name), None),
        (ServerState::Present(name), _) => ("present", Some(name), None),
        (ServerState::LeftOut(why), _) => ("left-out", None, Some(why.clone())),
    };
    let proposal = match &server.state {
        ServerState::New(proposal) => Some(proposal),
        ServerState::Present(_) | ServerState::LeftOut(_) => None,
    };
    let files = server.found_in.iter().filter_map(|at| plan.sources.get(*at));
    json!({
        "found_as": server.written,
        "files": files.map(|source| path_text(&source.path)).collect::<Vec<_>>(),
        "state": state,
        "name": name,
        "reason": reason,
        "package": proposal.and_then(|proposal| proposal.package.as_ref()).map(|(spec, _)| spec),
        "newest": proposal.and_then(|proposal| proposal.package.as_ref()).is_some_and(|(_, is_newest)| *is_newest),
        "notes": proposal.map(|proposal| proposal.notes.as_slice()).unwrap_or_default(),
        "variables_to_set": proposal.map(|proposal| proposal.to_set.as_slice()).unwrap_or_default(),
        "secret_files": proposal.iter().flat_map(|proposal| &proposal.files).map(|file| path_text(&file.path)).collect::<Vec<_>>(),
        "start": outcome.and_then(|outcome| outcome.as_ref().ok()),
    })
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
