//! Removes installed packages, and the leftovers of killed installations.

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Permissions, PermissionsExt as _};
use std::fs::TryLockError;
use std::io;

use super::PackageStore;
use super::work::WORK_PREFIX;
use crate::error::PackageError;
use crate::folder::is_package_name;
use crate::installed::InstalledPackage;
use crate::tree::make_removable;

impl PackageStore {
    /// Removes the leftovers of installations whose process was killed, and returns how many there were. Does nothing
    /// while an installation runs, in this process or in another one.
    ///
    /// # Errors
    /// The folder cannot be read, or a leftover cannot be removed.
    pub fn remove_unfinished(&self) -> Result<usize, PackageError> {
        let lock = self.lock_file()?;
        // The lock is held until this function returns, so no installation begins before the leftovers are gone.
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(0),
            Err(TryLockError::Error(source)) => return Err(self.failed("lock", source)),
        }
        let mut removed = 0;
        for entry in self.directory.entries().map_err(|source| self.failed("list", source))? {
            let entry = entry.map_err(|source| self.failed("list", source))?;
            let Some(name) = entry.file_name().into_string().ok().filter(|name| name.starts_with(WORK_PREFIX)) else {
                continue;
            };
            self.remove_folder(&name).map_err(|source| self.failed("remove leftovers in", source))?;
            removed += 1;
        }
        Ok(removed)
    }

    /// Removes an installed package. The caller makes sure that no server runs from it.
    ///
    /// # Errors
    /// The package is not in this store, or cannot be removed.
    pub fn remove(&self, package: &InstalledPackage) -> Result<(), PackageError> {
        let failed = |source| PackageError::Io { action: "remove", path: package.path().to_owned(), source };
        let name = package.path().strip_prefix(&self.path).ok().and_then(|name| name.to_str());
        let name = name.filter(|name| is_package_name(name) && !name.contains('/'));
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "it is not in the folder of packages");
        self.remove_folder(name.ok_or_else(outside).map_err(failed)?).map_err(failed)
    }

    /// Lets the owner remove everything in the folder, before the folder itself is removed.
    pub fn make_removable(&self) {
        make_removable(&self.directory);
    }

    fn remove_folder(&self, name: &str) -> io::Result<()> {
        let folder = self.directory.open_dir_nofollow(name)?;
        folder.set_permissions(".", Permissions::from_mode(0o700))?;
        make_removable(&folder);
        self.directory.remove_dir_all(name)
    }
}
