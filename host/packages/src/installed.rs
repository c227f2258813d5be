//! An installed package: what it is, whether it is still as it was installed, and how its server is started.

use cap_std::fs::Dir;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::choice;
use crate::damage::{DamageError, TreeChange};
use crate::error::PackageError;
use crate::folder::{folder_name, open_directory};
use crate::limits::{INSTALL_BYTES_MAX, INSTALL_FILES_MAX};
use crate::manifest::{Dependency, MANIFEST_FILE, Manifest, ManifestError};
use crate::program::{Program, ProgramEntry};
use crate::runtime::Runtime;
use crate::spec::PackageSpec;
use crate::tree::{self, InstalledFile, InstalledLink};
use crate::{npm, pypi};

/// A package in its read-only folder.
#[derive(Debug)]
pub struct InstalledPackage {
    path: PathBuf,
    manifest: Manifest,
}

/// How a server is started: a program of the machine, and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCommand {
    /// The path of Node.js or Python.
    pub program: PathBuf,
    /// The arguments. The arguments of the server come after them.
    pub arguments: Vec<OsString>,
}

impl InstalledPackage {
    /// Opens a package, and checks its manifest against its own hash and the name of its folder. It reads no other
    /// file: call [`Self::verify`] before a server is started, and compare [`Self::tree_hash`] with the pinned one.
    ///
    /// # Errors
    /// The folder cannot be opened, or its manifest is damaged.
    pub fn open(path: &Path) -> Result<Self, PackageError> {
        let failed = |source| PackageError::Io { action: "open", path: path.to_owned(), source };
        let folder = open_directory(path).map_err(failed)?;
        let damaged = |source: ManifestError| PackageError::Damaged { path: path.to_owned(), source: source.into() };
        let manifest = Manifest::read(&folder).map_err(damaged)?;
        let name = folder_name(&manifest.contents.spec, &manifest.tree_hash);
        if path.file_name().and_then(|name| name.to_str()) != Some(&name) {
            return Err(damaged(ManifestError::FolderName));
        }
        Ok(Self { path: path.to_owned(), manifest })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what was installed.
    pub fn spec(&self) -> &PackageSpec {
        &self.manifest.contents.spec
    }

    /// Returns the SHA-256 over everything that was installed, in hexadecimal. It is the identity to pin.
    pub fn tree_hash(&self) -> &str {
        &self.manifest.tree_hash
    }

    /// Returns all resolved packages with their hashes, the package itself included.
    pub fn dependencies(&self) -> &[Dependency] {
        &self.manifest.contents.dependencies
    }

    /// Returns the programs that the package offers.
    pub fn programs(&self) -> &[Program] {
        &self.manifest.contents.programs
    }

    /// Returns the installed files with their hashes, sorted by path.
    pub fn files(&self) -> &[InstalledFile] {
        &self.manifest.contents.files
    }

    /// Returns the symbolic links, sorted by path.
    pub fn links(&self) -> &[InstalledLink] {
        &self.manifest.contents.links
    }

    /// Reads all files that are at the path now, and compares them with the manifest. Blocks: call it on a blocking
    /// thread.
    ///
    /// # Errors
    /// A file or link was added, removed or changed, or breaks a rule.
    pub fn verify(&self) -> Result<(), PackageError> {
        let failed = |source| PackageError::Io { action: "open", path: self.path.clone(), source };
        let folder = open_directory(&self.path).map_err(failed)?;
        self.compare(&folder).map_err(|source| PackageError::Damaged { path: self.path.clone(), source })
    }

    fn compare(&self, folder: &Dir) -> Result<(), DamageError> {
        // The limits of the installation may have been higher.
        let files_max = INSTALL_FILES_MAX.max(2 * self.files().len() as u64);
        // A damaged manifest can name sizes whose sum overflows. No file has such a size, so the comparison finds it.
        let bytes = self.files().iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
        let bytes_max = INSTALL_BYTES_MAX.max(bytes.saturating_mul(2));
        let listing = tree::list(folder, MANIFEST_FILE, files_max, bytes_max)?;
        let files = tree::hash_files(folder, &listing.files)?;
        compare_sorted(self.files(), &files, |file| &file.path)?;
        compare_sorted(self.links(), &listing.links, |link| &link.path)
    }

    /// Returns the command that starts a program of the package with an empty environment.
    ///
    /// `choice` names the program. Without it, it is the only one, or the one named like the package. `seen_at` is the
    /// path of the folder in the view of the process, if it differs from [`Self::path`].
    ///
    /// # Errors
    /// There is no such program, or the machine's Node.js or Python cannot run the package.
    pub fn command(
        &self,
        runtime: &Runtime,
        choice: Option<&str>,
        seen_at: Option<&Path>,
    ) -> Result<ServerCommand, PackageError> {
        let Manifest { contents, .. } = &self.manifest;
        if runtime.kind() != contents.spec.kind() || runtime.platform() != contents.platform {
            return Err(PackageError::OtherPlatform {
                spec: contents.spec.clone(),
                installed: contents.platform.clone(),
                present: runtime.platform().to_owned(),
            });
        }
        let program = choice::choose(&contents.spec, &contents.programs, choice)?;
        let folder = seen_at.unwrap_or(&self.path);
        let arguments = match &program.entry {
            ProgramEntry::NodeScript(script) => npm::start_arguments(folder, script),
            ProgramEntry::PythonFunction { module, function } => {
                pypi::start_arguments(folder, &program.name, module, function)
            }
        };
        Ok(ServerCommand { program: runtime.program().to_owned(), arguments })
    }
}

/// Compares what is recorded with what is present. Both are sorted by path.
fn compare_sorted<T: PartialEq>(
    recorded: &[T],
    present: &[T],
    path: impl Fn(&T) -> &String,
) -> Result<(), DamageError> {
    let changed = |item: &T, change| Err(DamageError::Changed { path: path(item).clone(), change });
    let (mut recorded, mut present) = (recorded.iter().peekable(), present.iter().peekable());
    loop {
        match (recorded.peek(), present.peek()) {
            (None, None) => return Ok(()),
            (Some(gone), None) => return changed(gone, TreeChange::Removed),
            (None, Some(new)) => return changed(new, TreeChange::Added),
            (Some(one), Some(other)) if path(one) < path(other) => return changed(one, TreeChange::Removed),
            (Some(one), Some(other)) if path(one) > path(other) => return changed(other, TreeChange::Added),
            (Some(one), Some(other)) if one != other => return changed(other, TreeChange::Changed),
            (Some(_), Some(_)) => (recorded.next(), present.next()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Contents;

    #[test]
    fn sizes_that_no_files_can_have_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str| InstalledFile {
            path: path.to_owned(),
            size: u64::MAX,
            executable: false,
            sha256: String::new(),
        };
        let contents = Contents {
            spec: "npm:server@1.0.0".parse().unwrap(),
            platform: String::new(),
            programs: Vec::new(),
            dependencies: Vec::new(),
            files: vec![file("a"), file("b")],
            links: Vec::new(),
        };
        let manifest = Manifest::new(contents).unwrap();
        let package = InstalledPackage { path: folder.path().to_owned(), manifest };
        let error = package.verify().unwrap_err();
        assert!(matches!(error, PackageError::Damaged { .. }), "{error}");
    }
}
