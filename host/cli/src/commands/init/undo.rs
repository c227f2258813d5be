//! `portcullis init --undo`: takes back what `init` wrote for a project. What the user has changed since stays, except
//! for the server's own entry in a configuration.

use super::super::no_result::fail_as;
use super::places::InitPlaces;
use super::prompts;
use crate::clients::{AgentClient, ConfigFile};
use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::init_record::{ClientRecord, FileChange, InitRecord, ProjectRecord};
use crate::json::{self, DocumentKind};
use crate::style::TextStyle;
use crate::user_files;
use anyhow::{Context as _, bail};
use portcullis::text::OneLine;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was taken back, and what stays.
#[derive(Default)]
pub(in crate::commands) struct Undone {
    pub(in crate::commands) removed: Vec<String>,
    /// What stays, with the reason.
    pub(in crate::commands) kept: Vec<String>,
}

/// What to do with a policy that the user has edited.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum EditedPolicy {
    Keep,
    Remove,
}

pub(super) async fn run(
    places: &InitPlaces,
    mut record: InitRecord,
    yes: bool,
    context: &Context,
) -> anyhow::Result<Exit> {
    let Some(project) = record.projects.remove(&places.project) else {
        let what = format!("`init` wrote nothing for {}: there is nothing to undo", places.project.display());
        return fail_as(FailureCode::NothingToUndo, &what, Exit::Usage, context);
    };
    // Plugins and configurations of the user serve the other projects too, and go with the last one.
    let is_last = record.projects.is_empty();
    let mut edited = EditedPolicy::Keep;
    if !yes {
        if context.json || !context.terminal.can_ask() {
            let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
            bail!(error.help("run `portcullis init --undo --yes`"));
        }
        for what in listed(&project, &record, is_last) {
            context.terminal.note(format_args!("remove  {}", OneLine(&what)));
        }
        if !prompts::confirmed(context, "Take this back? [Y/n] ").await? {
            return fail_as(FailureCode::NotConfirmed, "nothing was changed", Exit::Denied, context);
        }
        if is_edited(&project)? {
            let prompt = "You have edited the policy. Remove it too? [y/N] ";
            let remove = crate::confirmation::confirmation(context.terminal, prompt).await;
            if remove == crate::confirmation::Confirmation::Yes {
                edited = EditedPolicy::Remove;
            }
        }
    }
    let mut undone = Undone::default();
    undo_project(&project, edited, &mut undone)?;
    if is_last {
        undo_shared(&mut record, &mut undone)?;
    }
    // Written last: after a crash, another undo skips the files that are gone already.
    record.write(&places.config)?;
    if is_last {
        user_files::remove_empty(&[places.config.clone(), places.config.join("projects")]);
    }
    show(&undone, context)?;
    Ok(Exit::Completed)
}

/// Returns what is to be removed.
fn listed(project: &ProjectRecord, record: &InitRecord, is_last: bool) -> Vec<String> {
    let file = |file: &Path| file.display().to_string();
    let entry = |client: &ClientRecord| format!("the server from {}", client.file.display());
    let mut listed: Vec<String> = project.policy.iter().map(|(policy, _)| file(policy)).collect();
    listed.extend(project.clients.iter().map(entry));
    if is_last {
        listed.extend(record.clients.iter().map(entry));
        listed.extend(record.plugins.keys().map(|plugin| file(plugin)));
    }
    listed
}

fn is_edited(project: &ProjectRecord) -> anyhow::Result<bool> {
    let Some((policy, sha256)) = &project.policy else { return Ok(false) };
    Ok(user_files::read(policy)?.is_some_and(|bytes| user_files::sha256(&bytes) != *sha256))
}

/// Takes back what was written for one project.
///
/// # Errors
/// A file cannot be read or written.
pub(in crate::commands) fn undo_project(
    project: &ProjectRecord,
    edited: EditedPolicy,
    undone: &mut Undone,
) -> anyhow::Result<()> {
    for client in project.clients.iter().rev() {
        undo_client(client, undone)?;
    }
    if let Some((policy, sha256)) = &project.policy {
        let gone = match edited {
            EditedPolicy::Remove => user_files::remove_all(policy).map(|()| true),
            EditedPolicy::Keep => user_files::remove_if(policy, sha256),
        };
        match gone.with_context(|| policy.display().to_string())? {
            true => undone.removed.push(policy.display().to_string()),
            false => undone.kept.push(format!("{}: you have edited it since", policy.display())),
        }
    }
    Ok(())
}

/// Takes back what all projects share: configurations of the user, and plugins.
///
/// # Errors
/// A file cannot be read or written.
pub(in crate::commands) fn undo_shared(record: &mut InitRecord, undone: &mut Undone) -> anyhow::Result<()> {
    for client in std::mem::take(&mut record.clients).iter().rev() {
        undo_client(client, undone)?;
    }
    for (plugin, sha256) in std::mem::take::<BTreeMap<PathBuf, String>>(&mut record.plugins) {
        match user_files::remove_if(&plugin, &sha256).with_context(|| plugin.display().to_string())? {
            true => undone.removed.push(plugin.display().to_string()),
            false => undone.kept.push(format!("{}: it is not the file that was installed", plugin.display())),
        }
        // The directory stays if it has other plugins.
        user_files::remove_empty(&[plugin.parent().unwrap_or(&plugin).to_owned()]);
    }
    Ok(())
}

/// Takes the server out of a configuration: to the byte if the file is unchanged, and else only the entry.
fn undo_client(record: &ClientRecord, undone: &mut Undone) -> anyhow::Result<()> {
    let file = &record.file;
    let context = || file.display().to_string();
    // A missing file was removed by the user, or by an undo that did not finish.
    let Some(bytes) = user_files::read(file).with_context(context)? else { return Ok(()) };
    let Ok(text) = String::from_utf8(bytes) else {
        undone.kept.push(format!("{}: it is not UTF-8", file.display()));
        return Ok(());
    };
    let restored = match user_files::sha256(text.as_bytes()) == record.sha256 {
        true => record.change.undone(&text)?,
        false => {
            let Some(client) = AgentClient::of_name(&record.client) else { return Ok(()) };
            match ConfigFile::without_entry_of(client, &text) {
                Ok(Some(without)) => Some(without),
                Ok(None) => return Ok(()),
                Err(error) => {
                    undone.kept.push(format!("the server in {}: {error}", file.display()));
                    return Ok(());
                }
            }
        }
    };
    match restored {
        Some(before) => {
            if let Err(error) = user_files::check_replaceable(file) {
                undone.kept.push(format!("the server in {}: {error}", file.display()));
                return Ok(());
            }
            user_files::replace(file, Some(text.as_bytes()), before.as_bytes(), user_files::SHARED)
                .with_context(context)?;
        }
        None => {
            debug_assert_eq!(record.change, FileChange::Created);
            user_files::remove_if(file, &record.sha256).with_context(context)?;
            user_files::remove_empty(&record.created);
        }
    }
    undone.removed.push(format!("the server from {}", file.display()));
    Ok(())
}

/// Shows what was taken back.
///
/// # Errors
/// The output cannot be written.
pub(in crate::commands) fn show(undone: &Undone, context: &Context) -> anyhow::Result<()> {
    if context.json {
        let document = json!({ "removed": undone.removed, "kept": undone.kept });
        return Ok(context.terminal.print(&json::document(DocumentKind::Undo, &document)?)?);
    }
    let style = context.terminal.style();
    let line =
        |look: TextStyle, label: &str, what: &String| format!("{} {}\n", style.paint(look, label), OneLine(what));
    let removed = undone.removed.iter().map(|what| line(TextStyle::Good, "removed", what));
    let kept = undone.kept.iter().map(|what| line(TextStyle::Doubtful, "kept   ", what));
    Ok(context.terminal.show(&removed.chain(kept).collect::<String>())?)
}
