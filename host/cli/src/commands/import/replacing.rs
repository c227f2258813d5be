//! Replaces imported servers in the configurations of agents by the one entry for Portcullis.

use super::plan::{ImportPlan, ServerState};
use crate::clients::{ConfigScope, ServerCommand, ServerSource};
use crate::context::Context;
use crate::environment::PolicyPlaces;
use crate::project;
use crate::user_files::{self, PRIVATE, SHARED};
use anyhow::{Context as _, anyhow};
use std::path::{Path, PathBuf};

/// Maximum copies of one file. With more, the user should tidy up.
const COPIES_MAX: usize = 100;

/// A configuration after the change.
pub(super) struct ReplacedFile {
    pub(super) path: PathBuf,
    /// The copy of what it was before.
    pub(super) copy: PathBuf,
    /// The servers that were replaced.
    pub(super) removed: Vec<String>,
}

/// The configurations after the change, and those that could not be changed, with the reasons.
#[derive(Default)]
pub(super) struct Replacements {
    pub(super) replaced: Vec<ReplacedFile>,
    pub(super) problems: Vec<(PathBuf, String)>,
}

/// Returns the servers of a source that the policy has after the import. `is_imported` says whether a new server was
/// imported.
pub(super) fn replaced_names(plan: &ImportPlan, source: usize, is_imported: impl Fn(usize) -> bool) -> Vec<String> {
    let in_source = plan.servers.iter().enumerate().filter(|(_, server)| server.found_in.contains(&source));
    let replaced = in_source.filter(|(at, server)| match server.state {
        ServerState::New(_) => is_imported(*at),
        ServerState::Present(_) => true,
        ServerState::LeftOut(_) => false,
    });
    replaced.map(|(_, server)| server.written.clone()).collect()
}

/// Replaces the servers. Each file is copied first, and replaced at once. A file that cannot be changed is left alone
/// and reported with the reason.
///
/// # Errors
/// The path of this program or of the project is not known.
pub(super) fn run(
    plan: &ImportPlan,
    is_imported: impl Fn(usize) -> bool,
    context: &Context,
) -> anyhow::Result<Replacements> {
    let mut replacements = Replacements::default();
    let mut done: Vec<&Path> = Vec::new();
    for first in &plan.sources {
        if done.contains(&first.target.as_path()) {
            continue;
        }
        done.push(&first.target);
        // A file can have several places with servers.
        let of_file = plan.sources.iter().enumerate().filter(|(_, source)| source.target == first.target);
        let with_names = of_file.map(|(at, source)| (source, replaced_names(plan, at, &is_imported)));
        let places: Vec<(&ServerSource, Vec<String>)> = with_names.filter(|(_, names)| !names.is_empty()).collect();
        if places.is_empty() {
            continue;
        }
        match replace(first, &places, &command(first.scope, context)?) {
            Ok(copy) => {
                let removed = places.into_iter().flat_map(|(_, names)| names).collect();
                replacements.replaced.push(ReplacedFile { path: first.path.clone(), copy, removed });
            }
            Err(error) => replacements.problems.push((first.path.clone(), format!("{error:#}"))),
        }
    }
    Ok(replacements)
}

fn replace(
    file: &ServerSource,
    places: &[(&ServerSource, Vec<String>)],
    command: &ServerCommand,
) -> anyhow::Result<PathBuf> {
    let mut text = file.before.clone();
    for (source, names) in places {
        text = source.replaced(&text, names, command).map_err(|why| anyhow!(why))?;
    }
    let copy = copy_path(&file.target)?;
    // Secrets in it stay readable for the user only.
    user_files::replace(&copy, None, file.before.as_bytes(), PRIVATE).context("cannot write a copy beside it")?;
    let mode = if file.scope == ConfigScope::User { PRIVATE } else { SHARED };
    user_files::replace(&file.target, Some(file.before.as_bytes()), text.as_bytes(), mode)?;
    Ok(copy)
}

/// Returns a path beside a file that does not exist yet.
fn copy_path(file: &Path) -> anyhow::Result<PathBuf> {
    let name = file.file_name().context("it has no name")?.to_string_lossy().into_owned();
    let numbered = (2..COPIES_MAX).map(|number| format!("{name}.before-portcullis-{number}"));
    let mut names = std::iter::once(format!("{name}.before-portcullis")).chain(numbered);
    // A link counts as taken, wherever it leads.
    let free = names.find(|name| file.with_file_name(name).symlink_metadata().is_err());
    Ok(file.with_file_name(free.context("there are too many copies beside it")?))
}

/// Returns the command line of the entry, with the places that this command uses.
fn command(scope: ConfigScope, context: &Context) -> anyhow::Result<ServerCommand> {
    let environment = &context.environment;
    let program = std::env::current_exe().context("the system does not tell where this program is")?;
    let mut arguments = vec!["serve".to_owned(), "--stdio".to_owned()];
    if scope == ConfigScope::Project {
        let project = project::resolved(&environment.project)?;
        arguments.extend(["--project".to_owned(), project.to_string_lossy().into_owned()]);
    }
    for (option, path) in &environment.named_places {
        arguments.extend([(*option).to_owned(), path.to_string_lossy().into_owned()]);
    }
    if let PolicyPlaces::Named(path) = &environment.policy {
        arguments.extend(["--policy".to_owned(), std::path::absolute(path)?.to_string_lossy().into_owned()]);
    }
    Ok(ServerCommand { program, arguments })
}
