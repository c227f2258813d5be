//! Lists a tree without following a link.

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use std::collections::BTreeSet;
use std::io;

use super::{InstalledLink, TreeError};
use crate::limits::TREE_DEPTH_MAX;

/// The bits of a mode that change whose rights a program has.
const SET_ID_BITS: u32 = 0o6000;

/// The bits of a mode that allow to execute a file.
const EXECUTE_BITS: u32 = 0o111;

/// What a tree contains, sorted by path.
#[derive(Debug, Default)]
pub(crate) struct TreeListing {
    pub(crate) files: Vec<ListedFile>,
    pub(crate) links: Vec<InstalledLink>,
    pub(crate) directories: BTreeSet<String>,
}

/// A regular file of a tree.
#[derive(Debug)]
pub(crate) struct ListedFile {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) executable: bool,
}

/// Lists a tree without the file `except` at its top.
///
/// # Errors
/// The tree has something that is not accepted, or it exceeds a limit.
pub(crate) fn list(root: &Dir, except: &str, files_max: u64, bytes_max: u64) -> Result<TreeListing, TreeError> {
    let mut walk = Walk { listing: TreeListing::default(), except, files_max, bytes_max, entries: 0, bytes: 0 };
    walk.enter(root, "", 0)?;
    let mut listing = walk.listing;
    listing.files.sort_by(|one, other| one.path.cmp(&other.path));
    listing.links.sort_by(|one, other| one.path.cmp(&other.path));
    check_links(&listing)?;
    Ok(listing)
}

struct Walk<'a> {
    listing: TreeListing,
    except: &'a str,
    files_max: u64,
    bytes_max: u64,
    entries: u64,
    bytes: u64,
}

impl Walk<'_> {
    fn enter(&mut self, folder: &Dir, path: &str, depth: usize) -> Result<(), TreeError> {
        let failed = |source| TreeError::Io { path: path.to_owned(), source };
        if depth > TREE_DEPTH_MAX {
            return Err(TreeError::TooDeep { path: path.to_owned() });
        }
        for entry in folder.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().into_string().map_err(|_| TreeError::Name { path: path.to_owned() })?;
            let inner = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            if inner == self.except {
                continue;
            }
            self.entries += 1;
            if self.entries > self.files_max {
                return Err(TreeError::TooManyFiles { files_max: self.files_max });
            }
            let metadata = folder.symlink_metadata(&name).map_err(failed)?;
            self.add(folder, &name, inner, &metadata, depth)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        folder: &Dir,
        name: &str,
        path: String,
        metadata: &Metadata,
        depth: usize,
    ) -> Result<(), TreeError> {
        let failed = |source: io::Error| TreeError::Io { path: path.clone(), source };
        if metadata.is_symlink() {
            let target = folder.read_link_contents(name).map_err(failed)?;
            let target = target.into_os_string().into_string().map_err(|_| TreeError::Name { path: path.clone() })?;
            self.listing.links.push(InstalledLink { path, target });
        } else if metadata.is_dir() {
            let inner = folder.open_dir_nofollow(name).map_err(failed)?;
            self.enter(&inner, &path, depth + 1)?;
            self.listing.directories.insert(path);
        } else if metadata.is_file() {
            self.bytes = self.bytes.saturating_add(metadata.len());
            if self.bytes > self.bytes_max {
                return Err(TreeError::TooManyBytes { bytes_max: self.bytes_max });
            }
            if metadata.mode() & SET_ID_BITS != 0 {
                return Err(TreeError::SetUserId { path });
            }
            // Another name outside of the tree could be used to change the file. `make_read_only` would also change
            // that file.
            if metadata.nlink() > 1 {
                return Err(TreeError::HardLink { path });
            }
            let executable = metadata.mode() & EXECUTE_BITS != 0;
            self.listing.files.push(ListedFile { path, size: metadata.len(), executable });
        } else {
            return Err(TreeError::SpecialFile { path });
        }
        Ok(())
    }
}

/// Checks that each link leads to a listed file or directory. The listing never followed a link, so no part of such a
/// path is a link, and the system follows it to the same place.
fn check_links(listing: &TreeListing) -> Result<(), TreeError> {
    for link in &listing.links {
        let is_file = |path: &String| listing.files.binary_search_by(|file| file.path.cmp(path)).is_ok();
        let reached = resolve(link).filter(|path| listing.directories.contains(path) || is_file(path));
        if reached.is_none() {
            return Err(TreeError::ForeignLink { path: link.path.clone(), target: link.target.clone() });
        }
    }
    Ok(())
}

/// Returns the path in the tree that a link names. `..` is only accepted at the beginning of a target.
fn resolve(link: &InstalledLink) -> Option<String> {
    let mut path: Vec<&str> = link.path.split('/').collect();
    path.pop();
    let mut target = link.target.as_str();
    while let Some(rest) = target.strip_prefix("../") {
        path.pop()?;
        target = rest;
    }
    for name in target.strip_prefix("./").unwrap_or(target).split('/') {
        match name {
            // After a name, `..` starts where that name leads, which is elsewhere if it is a link.
            "" | "." | ".." => return None,
            name => path.push(name),
        }
    }
    Some(path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_a_path_in_the_tree_or_nothing() {
        let link = |path: &str, target: &str| resolve(&InstalledLink { path: path.into(), target: target.into() });
        assert_eq!(link("node_modules/.bin/a", "../a/cli.js"), Some("node_modules/a/cli.js".to_owned()));
        assert_eq!(link("a", "./b"), Some("b".to_owned()));
        for (path, target) in
            [("a", "/etc"), ("a", "../a"), ("b/a", "../../etc"), ("a", "b/../c"), ("a", ".."), ("a", "")]
        {
            assert_eq!(link(path, target), None, "{path} {target}");
        }
    }
}
