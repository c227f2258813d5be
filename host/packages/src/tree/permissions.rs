//! Makes a tree read-only, and removable again.

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Permissions, PermissionsExt as _};
use std::io;

use super::TreeError;
use super::list::TreeListing;
use crate::limits::TREE_DEPTH_MAX;

/// The mode of installed directories, and of files that may be executed.
const EXECUTABLE_MODE: u32 = 0o555;

/// The mode of other installed files.
const FILE_MODE: u32 = 0o444;

/// The mode of directories whose entries may be removed.
const REMOVABLE_MODE: u32 = 0o700;

/// Removes every permission to write to a listed tree. The top directory stays as it is.
pub(crate) fn make_read_only(root: &Dir, listing: &TreeListing) -> Result<(), TreeError> {
    let set = |path: &String, mode| {
        let set = root.set_permissions(path, Permissions::from_mode(mode));
        set.map_err(|source| TreeError::Io { path: path.clone(), source })
    };
    for file in &listing.files {
        set(&file.path, if file.executable { EXECUTABLE_MODE } else { FILE_MODE })?;
    }
    listing.directories.iter().try_for_each(|directory| set(directory, EXECUTABLE_MODE))
}

/// Allows to remove what is below a directory. Ignores errors, because the removal reports them.
pub(crate) fn make_removable(folder: &Dir) {
    enter(folder, 0);
}

fn enter(folder: &Dir, depth: usize) {
    // A tree that became read-only is not deeper. Its handles must not exhaust those of the process.
    if depth > TREE_DEPTH_MAX {
        return;
    }
    let Ok(entries) = folder.entries() else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if let Ok(inner) = folder.open_dir_nofollow(entry.file_name())
            && allow(&inner).is_ok()
        {
            enter(&inner, depth + 1);
        }
    }
}

fn allow(folder: &Dir) -> io::Result<()> {
    folder.set_permissions(".", Permissions::from_mode(REMOVABLE_MODE))
}
