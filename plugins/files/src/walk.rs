//! The files beneath a directory: sorted, without `.git`, without what `.gitignore` names, never through a link.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};
use portcullis_sdk::prelude::*;

use crate::place::Place;
use crate::workspace::Workspace;

/// How many entries one call walks over: a large repository, and a bound for what is none.
const ENTRIES_WALKED_MAX: usize = 500_000;

/// How deep a tree is followed. Paths have a limit of about this many segments.
const DEPTH_MAX: usize = 512;

/// How many entries are walked between two looks at whether the call was cancelled.
const ENTRIES_PER_LOOK: usize = 256;

/// Calls `visit` with each file beneath a place, until that says stop, and tells whether the walk saw everything.
pub(crate) fn files(
    workspace: &Workspace,
    start: &Place,
    context: &Context,
    mut visit: impl FnMut(&Place) -> Result<Next, Failure>,
) -> Result<Extent, Failure> {
    let root = workspace.full(&Place::parse("")?);
    let outer = outer_rules(workspace, start);
    let walk = WalkBuilder::new(workspace.full(start))
        .hidden(false)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(Some(DEPTH_MAX))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(move |entry| entry.depth() == 0 || is_wanted(entry, &outer))
        .build();
    for (number, entry) in walk.enumerate() {
        if number == ENTRIES_WALKED_MAX {
            return Ok(Extent::Part);
        }
        if number % ENTRIES_PER_LOOK == 0 {
            context.check_cancelled()?;
        }
        // A directory that cannot be read, or that was removed meanwhile, hides nothing else.
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        if let Some(place) = place_of(&root, entry.path())
            && visit(&place)? == Next::Stop
        {
            return Ok(Extent::Part);
        }
    }
    Ok(Extent::Whole)
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    GoOn,
    Stop,
}

/// How much of the tree a walk has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    Part,
}

/// The rules of the directories around the start, innermost first. The walker reads those from the start on.
fn outer_rules(workspace: &Workspace, start: &Place) -> Vec<Gitignore> {
    let mut rules = Vec::new();
    let mut place = start.clone();
    while let Some(parent) = place.parent() {
        let directory = workspace.full(&parent);
        let mut builder = GitignoreBuilder::new(&directory);
        // No such file is the usual case, and a broken line must not hide the others.
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
    let decided =
        outer.iter().map(|rules| rules.matched(entry.path(), is_directory)).find(|matched| !matched.is_none());
    !decided.is_some_and(|matched| matched.is_ignore())
}

/// A name that is no UTF-8 or that no path of ours can spell is left out: no other tool could take it.
fn place_of(root: &Path, path: &Path) -> Option<Place> {
    Place::parse(path.strip_prefix(root).ok()?.to_str()?).ok()
}
