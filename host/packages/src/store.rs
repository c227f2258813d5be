//! The folder of the host that has the installed packages. Each is a read-only folder, named by its content.
//!
//! An installation fills a work folder beside them, and then moves the tree into place in one step. So an installed
//! package is always complete, and two installations of one package do not disturb each other.

mod remove;
mod work;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Permissions, PermissionsExt as _};
use std::fs::File;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::error::PackageError;
use crate::folder::{folder_name, is_package_name, name_beginning, open_directory};
use crate::installed::InstalledPackage;
use crate::manifest::{MANIFEST_FILE, Manifest, ManifestError};
use crate::spec::PackageSpec;
pub(crate) use work::WorkFolder;

/// The lock file. An installation holds a shared lock on it, and a removal of leftovers an exclusive one.
const LOCK_FILE: &str = "lock";

/// The mode of an installed folder.
const READ_ONLY_MODE: u32 = 0o555;

/// The permissions of others that an attacker could use to change a package.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The folder of installed packages, for example `servers/packages` in the state directory.
#[derive(Debug)]
pub struct PackageStore {
    path: PathBuf,
    directory: Dir,
}

impl PackageStore {
    /// Opens the folder. Creates it if it does not exist, so that only its owner can use it.
    ///
    /// # Errors
    /// The folder cannot be created or opened, or other users can change it.
    pub fn open(path: &Path) -> Result<Self, PackageError> {
        let failed = |source| PackageError::Io { action: "open", path: path.to_owned(), source };
        // The tools run in another working directory.
        let path = std::path::absolute(path).map_err(failed)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(failed)?;
        let directory = open_directory(&path).map_err(failed)?;
        // The mode above applies only to a folder that did not exist.
        if directory.dir_metadata().map_err(failed)?.permissions().mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(PackageError::Exposed { path });
        }
        Ok(Self { path, directory })
    }

    /// Opens the folder if it exists. Creates nothing.
    ///
    /// # Errors
    /// The folder cannot be opened, or other users can change it.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, PackageError> {
        match path.is_dir() {
            true => Self::open(path).map(Some),
            false => Ok(None),
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lists the installed packages, sorted by the names of their folders. Leaves out damaged ones.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<InstalledPackage>, PackageError> {
        self.list_where(is_package_name)
    }

    /// Lists the installations of one package: one for each platform, or several if its files have changed in the
    /// registry. Leaves out damaged ones.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn installations(&self, spec: &PackageSpec) -> Result<Vec<InstalledPackage>, PackageError> {
        let beginning = name_beginning(spec);
        let mut found = self.list_where(|name| name.starts_with(&beginning))?;
        found.retain(|installed| installed.spec() == spec);
        Ok(found)
    }

    fn list_where(&self, is_listed: impl Fn(&str) -> bool) -> Result<Vec<InstalledPackage>, PackageError> {
        let mut names = Vec::new();
        for entry in self.directory.entries().map_err(|source| self.failed("list", source))? {
            let entry = entry.map_err(|source| self.failed("list", source))?;
            names.extend(entry.file_name().into_string().ok().filter(|name| is_listed(name)));
        }
        names.sort();
        Ok(names.into_iter().filter_map(|name| InstalledPackage::open(&self.path.join(name)).ok()).collect())
    }

    /// Creates a work folder that no other installation uses.
    pub(crate) fn begin(&self) -> Result<WorkFolder, PackageError> {
        let lock = self.lock_file()?;
        lock.lock_shared().map_err(|source| self.failed("lock", source))?;
        WorkFolder::create(&self.directory, &self.path, lock).map_err(|source| self.failed("write to", source))
    }

    /// Moves the tree of a work folder into place, with its manifest. If the same package is already there, returns
    /// that one.
    pub(crate) fn finish(&self, work: &WorkFolder, manifest: &Manifest) -> Result<InstalledPackage, PackageError> {
        let name = folder_name(&manifest.contents.spec, &manifest.tree_hash);
        let place = self.path.join(&name);
        let damaged = |source: ManifestError| PackageError::Damaged { path: place.clone(), source: source.into() };
        let failed = |source| PackageError::Io { action: "write", path: place.clone(), source };
        let bytes = manifest.to_bytes().map_err(damaged)?;
        work.write_manifest(MANIFEST_FILE, &bytes).map_err(failed)?;
        if let Err(error) = work.move_tree(&self.directory, &name) {
            // rename(2) reports either of them if the target is a directory with entries.
            if !matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty) {
                return Err(failed(error));
            }
            match self.verified(&place) {
                Ok(package) => return Ok(package),
                Err(PackageError::Damaged { .. }) => self.replace(work, &name).map_err(failed)?,
                Err(other) => return Err(other),
            }
        }
        let folder = self.directory.open_dir_nofollow(&name).map_err(failed)?;
        // Only now: the system does not move a folder that its owner cannot write to.
        folder.set_permissions(".", Permissions::from_mode(READ_ONLY_MODE)).map_err(failed)?;
        InstalledPackage::open(&place)
    }

    fn verified(&self, place: &Path) -> Result<InstalledPackage, PackageError> {
        let package = InstalledPackage::open(place)?;
        package.verify()?;
        Ok(package)
    }

    /// Moves a damaged package out of the way, into the work folder, and the new one into its place.
    fn replace(&self, work: &WorkFolder, name: &str) -> io::Result<()> {
        // A directory that is not writable cannot be moved into another one, because its entry `..` changes.
        self.directory.set_permissions(name, Permissions::from_mode(0o700))?;
        work.take_damaged(&self.directory, name)?;
        work.move_tree(&self.directory, name)
    }

    fn lock_file(&self) -> Result<File, PackageError> {
        let mut options = cap_std::fs::OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let file = self.directory.open_with(LOCK_FILE, &options).map_err(|source| self.failed("lock", source))?;
        Ok(file.into_std())
    }

    fn failed(&self, action: &'static str, source: io::Error) -> PackageError {
        PackageError::Io { action, path: self.path.clone(), source }
    }
}
