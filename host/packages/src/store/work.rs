//! The temporary folder of one installation. It is removed when it is dropped, or later if the process was killed.

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::tree::make_removable;

/// The beginning of the names of work folders.
pub(super) const WORK_PREFIX: &str = ".unfinished-";

/// The directory in a work folder that becomes the installed package.
const TREE: &str = "tree";

/// The directory in a work folder for the tools' temporary files.
const TEMPORARY: &str = "temporary";

/// The directory in a work folder that receives a damaged package.
const DAMAGED: &str = "damaged";

/// The number of the next work folder of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A work folder. It holds a shared lock, so that no process removes it as a leftover.
pub(crate) struct WorkFolder {
    store: Dir,
    name: String,
    path: PathBuf,
    directory: Dir,
    tree: Dir,
    _lock: File,
}

impl WorkFolder {
    pub(super) fn create(store: &Dir, store_path: &Path, lock: File) -> io::Result<Self> {
        let name = loop {
            let name = format!("{WORK_PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            match store.create_dir(&name) {
                Ok(()) => break name,
                // A killed process with the same id left it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let directory = store.open_dir_nofollow(&name)?;
        directory.create_dir(TREE)?;
        directory.create_dir(TEMPORARY)?;
        let tree = directory.open_dir_nofollow(TREE)?;
        Ok(Self { store: store.try_clone()?, path: store_path.join(&name), name, directory, tree, _lock: lock })
    }

    /// Returns the path of the folder. The tools need it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder.
    pub(crate) fn directory(&self) -> &Dir {
        &self.directory
    }

    /// Returns the directory that becomes the installed package.
    pub(crate) fn tree(&self) -> &Dir {
        &self.tree
    }

    /// Returns the path of [`Self::tree`].
    pub(crate) fn tree_path(&self) -> PathBuf {
        self.path.join(TREE)
    }

    /// Returns the path of the directory for temporary files.
    pub(crate) fn temporary_path(&self) -> PathBuf {
        self.path.join(TEMPORARY)
    }

    /// Creates or empties a file of the folder.
    pub(crate) fn create_file(&self, name: &str) -> io::Result<File> {
        Ok(self.directory.create(name)?.into_std())
    }

    /// Writes a file that a tool reads.
    pub(crate) fn write_file(&self, name: &str, content: impl AsRef<[u8]>) -> io::Result<()> {
        self.directory.write(name, content)
    }

    /// Writes the manifest into the tree. It is new: the tree is refused if a package brings a file of this name.
    pub(super) fn write_manifest(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o444);
        let mut file = self.tree.open_with(name, &options)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Moves the tree to its place in the store, if there is nothing.
    pub(super) fn move_tree(&self, store: &Dir, name: &str) -> io::Result<()> {
        self.directory.rename(TREE, store, name)
    }

    /// Moves a damaged package into this folder, which will be removed.
    pub(super) fn take_damaged(&self, store: &Dir, name: &str) -> io::Result<()> {
        store.rename(name, &self.directory, DAMAGED)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // If `finish` has failed, `seal` has made the tree read-only.
        make_removable(&self.directory);
        // What remains is removed with the leftovers of killed installations.
        let _ = self.store.remove_dir_all(&self.name);
    }
}
