//! Walks the files below a directory: sorted, without `.git`, ignored files and symbolic links.

use std::io;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Error, Walk, WalkBuilder};
use portcullis_sdk::prelude::*;

use crate::coverage::Coverage;
use crate::place::Place;
use crate::workspace::Workspace;

/// Maximum number of entries that one call visits: enough for a large repository.
const ENTRIES_WALKED_MAX: usize = 500_000;

/// Maximum depth of the walk. Paths are limited to about this many segments.
const DEPTH_MAX: usize = 512;

/// Number of entries to visit between two checks for cancellation.
const ENTRIES_PER_LOOK: usize = 256;

/// Calls `visit` with each file below a place until it returns [`Next::Stop`]. Returns what the walk covered.
pub(crate) fn files(
    workspace: &Workspace,
    start: &Place,
    context: &Context,
    mut visit: impl FnMut(&Place) -> Result<Next, Failure>,
) -> Result<Coverage, Failure> {
    let root = workspace.full(&Place::parse("")?);
    let mut coverage = Coverage::default();
    // The current directory of the walk: some errors of a listing do not name theirs.
    let mut directory = workspace.full(start);
    for (number, entry) in walker(workspace, start).enumerate() {
        if number == ENTRIES_WALKED_MAX {
            coverage.cut();
            break;
        }
        if number % ENTRIES_PER_LOOK == 0 {
            context.check_cancelled()?;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                note(&mut coverage, &root, &directory, &error);
                continue;
            }
        };
        // Only standard input has no type.
        let Some(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            // The walker does not enter this directory.
            if entry.depth() == DEPTH_MAX {
                coverage.cut();
            }
            directory = entry.into_path();
        } else if kind.is_file()
            && let Some(place) = place_of(&root, entry.path())
            && visit(&place)? == Next::Stop
        {
            break;
        }
    }
    Ok(coverage)
}

fn walker(workspace: &Workspace, start: &Place) -> Walk {
    let outer = outer_rules(workspace, start);
    WalkBuilder::new(workspace.full(start))
        // `hidden` turns on the filter that skips hidden files, so `false` shows them.
        .hidden(false)
        // The rules of the parents are in `outer`. The walker would also read those outside of the workspace.
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        // A `.gitignore` counts also in a workspace without `.git`, such as a part of a repository.
        .require_git(false)
        .follow_links(false)
        .max_depth(Some(DEPTH_MAX))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(move |entry| entry.depth() == 0 || is_wanted(entry, &outer))
        .build()
}

/// Records a directory that the walk could not read. Ignores one that was removed in the meantime.
///
/// The walker sorts the errors of a listing before its entries, so an error without a path belongs to `current`, the
/// directory that the walk just entered.
fn note(coverage: &mut Coverage, root: &Path, current: &Path, error: &Error) {
    let Some(cause) = error.io_error().map(system_error) else { return };
    if cause.kind() == io::ErrorKind::NotFound {
        return;
    }
    let path = path_of(error).unwrap_or(current);
    let relative = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    coverage.unread(if relative.is_empty() { "." } else { &relative }, cause);
}

/// Returns the system's error, which the walker wraps in its own.
fn system_error(error: &io::Error) -> &io::Error {
    let wrapped = error.get_ref().and_then(|wrapped| wrapped.source());
    wrapped.and_then(|cause| cause.downcast_ref()).unwrap_or(error)
}

fn path_of(error: &Error) -> Option<&Path> {
    match error {
        Error::WithPath { path, .. } => Some(path),
        Error::WithDepth { err, .. } | Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// Whether to continue the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    GoOn,
    Stop,
}

/// Reads the `.gitignore` rules of the parent directories, innermost first. The walker reads the others itself.
fn outer_rules(workspace: &Workspace, start: &Place) -> Vec<Gitignore> {
    let mut rules = Vec::new();
    let mut place = start.clone();
    while let Some(parent) = place.parent() {
        let directory = workspace.full(&parent);
        let mut builder = GitignoreBuilder::new(&directory);
        // A missing file is the usual case. An invalid line must not discard the other rules.
        if builder.add(directory.join(".gitignore")).is_none()
            && let Ok(gitignore) = builder.build()
        {
            rules.push(gitignore);
        }
        place = parent;
    }
    rules
}

fn is_wanted(entry: &DirEntry, outer: &[Gitignore]) -> bool {
    if entry.file_name() == ".git" {
        return false;
    }
    let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
    // As in Git, the rules of the nearest directory decide.
    let decided =
        outer.iter().map(|rules| rules.matched(entry.path(), is_directory)).find(|matched| !matched.is_none());
    !decided.is_some_and(|matched| matched.is_ignore())
}

/// Returns the place of a path. `None` for a name that is not UTF-8 or not valid in a [`Place`]: no other tool could
/// open it.
fn place_of(root: &Path, path: &Path) -> Option<Place> {
    Place::parse(path.strip_prefix(root).ok()?.to_str()?).ok()
}
