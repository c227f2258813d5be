//! `portcullis uninstall`: removes what portcullis wrote outside of the program. It lists everything first.

use super::Context;
use super::init::undo::{self, EditedPolicy, Undone};
use super::no_result::fail_as;
use crate::arguments::UninstallArguments;
use crate::confirmation::confirmed;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::init_record::InitRecord;
use crate::user_files;
use anyhow::{Context as _, bail};
use portcullis::plugins::packages_of;
use portcullis::text::OneLine;
use portcullis_packages::PackageStore;
use std::path::{Path, PathBuf};

/// The file that shows that a directory is a state directory.
const KEY_FILE: &str = "key";

/// What a host keeps in its state directory. Anything else there, such as plugins, is not the host's and stays.
const STATE_NAMES: [&str; 17] = [
    "audit.head",
    "audit.jsonl",
    "audit.lock",
    "cache",
    "console-token",
    "generated",
    "ledger.sqlite",
    "ledger.sqlite-shm",
    "ledger.sqlite-wal",
    "live",
    "logins",
    "mcp-token",
    "order",
    "outputs",
    "owners",
    "servers",
    KEY_FILE,
];

pub(super) async fn run(arguments: &UninstallArguments, context: &Context) -> anyhow::Result<Exit> {
    let environment = &context.environment;
    let config = environment.user.config.clone().context("there is no HOME, so it is not known what was written")?;
    let mut record = InitRecord::read(&config)?;
    let state = match arguments.keep_state {
        true => Vec::new(),
        false => state_files(environment.state()?)?,
    };
    let listed = listed(&record, &state);
    if listed.is_empty() {
        if context.json {
            undo::show(&Undone::default(), context)?;
        } else {
            context.terminal.note("there is nothing to remove");
        }
        return Ok(Exit::Completed);
    }
    if !context.json {
        listed.iter().for_each(|what| context.terminal.note(format_args!("remove  {}", OneLine(what))));
    }
    if !arguments.yes {
        if context.json || !context.terminal.can_ask() {
            let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
            bail!(error.help("run `portcullis uninstall --yes`"));
        }
        if !confirmed(context.terminal, "Remove all of this?").await {
            return fail_as(FailureCode::NotConfirmed, "nothing was changed", Exit::Denied, context);
        }
    }
    let mut undone = Undone::default();
    for project in std::mem::take(&mut record.projects).into_values() {
        // Nothing asks about each policy, so those that the user has edited stay.
        undo::undo_project(&project, EditedPolicy::Keep, &mut undone)?;
    }
    undo::undo_shared(&mut record, &mut undone)?;
    record.write(&config)?;
    user_files::remove_empty(&[config.clone(), config.join("projects")]);
    if !state.is_empty() {
        // Installed packages are read-only. If that stays so, their removal says why.
        let packages = PackageStore::open_existing(&packages_of(environment.state()?));
        packages.iter().flatten().for_each(PackageStore::make_removable);
    }
    for file in &state {
        user_files::remove_all(file).with_context(|| file.display().to_string())?;
        undone.removed.push(file.display().to_string());
    }
    if !arguments.keep_state {
        user_files::remove_empty(&[environment.state()?.to_owned()]);
    }
    undo::show(&undone, context)?;
    if !context.json {
        let program = std::env::current_exe().map(|program| program.display().to_string()).unwrap_or_default();
        context.terminal.note(format_args!("The program itself is {}", OneLine(&program)));
    }
    Ok(Exit::Completed)
}

/// Returns what a host keeps in a state directory, if the directory is one.
fn state_files(state: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let names = user_files::list(state).with_context(|| state.display().to_string())?;
    // A mistyped --state must not empty a directory of the user.
    if !names.iter().any(|name| name == KEY_FILE) {
        return Ok(Vec::new());
    }
    Ok(names.iter().filter(|name| STATE_NAMES.contains(&name.as_str())).map(|name| state.join(name)).collect())
}

fn listed(record: &InitRecord, state: &[PathBuf]) -> Vec<String> {
    let projects = record.projects.values();
    let policies = projects.clone().flat_map(|project| &project.policy).map(|(policy, _)| policy.display().to_string());
    let clients = projects.flat_map(|project| &project.clients).chain(&record.clients);
    let clients = clients.map(|client| format!("the server from {}", client.file.display()));
    let files = record.plugins.keys().chain(state).map(|file| file.display().to_string());
    policies.chain(clients).chain(files).collect()
}
