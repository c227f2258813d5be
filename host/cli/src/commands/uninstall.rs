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

/// What a host keeps in its state directory, in the order of its removal. Anything else there, such as plugins, is not
/// the host's and stays. The key is last: without it, a second run would not continue after a removal that failed.
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

/// Returns what a host keeps in a state directory, in the order of its removal, if the directory is one.
fn state_files(state: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let names = user_files::list(state).with_context(|| state.display().to_string())?;
    // A mistyped --state must not empty a directory of the user.
    if !names.iter().any(|name| name == KEY_FILE) {
        return Ok(Vec::new());
    }
    Ok(removed(&names).map(|name| state.join(name)).collect())
}

/// Returns those of the names in a state directory that a host keeps there, in the order of their removal.
fn removed(names: &[String]) -> impl Iterator<Item = &'static str> {
    STATE_NAMES.into_iter().filter(move |kept| names.iter().any(|name| name == kept))
}

fn listed(record: &InitRecord, state: &[PathBuf]) -> Vec<String> {
    let projects = record.projects.values();
    let policies = projects.clone().flat_map(|project| &project.policy).map(|(policy, _)| policy.display().to_string());
    let clients = projects.flat_map(|project| &project.clients).chain(&record.clients);
    let clients = clients.map(|client| format!("the server from {}", client.file.display()));
    let files = record.plugins.keys().chain(state).map(|file| file.display().to_string());
    policies.chain(clients).chain(files).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As long as anything of the host is left, the directory counts as a state directory.
    #[test]
    fn the_key_is_removed_last() {
        let mut names: Vec<String> = STATE_NAMES.into_iter().chain(["plugins"]).map(str::to_owned).collect();
        names.sort();
        let removed: Vec<&str> = removed(&names).collect();
        assert_eq!((removed.len(), removed.last()), (STATE_NAMES.len(), Some(&KEY_FILE)));
        assert!(!removed.contains(&"plugins"));
    }
}
