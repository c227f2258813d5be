//! The installed package that the program of a server comes from.

use super::directory::BoundDirectory;
use crate::text::{OneLine, WithCauses};
use portcullis_packages::{InstalledPackage, PackageSpec, PackageStore, Runtime, ToolEnvironment};
use portcullis_policy::{Access, DependencyKey, ServerPackage};
use portcullis_sandbox::{Directory, DirectoryError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The key of the folder of a server's package. A link of this name is at the root of the program's view.
const PACKAGE_KEY: &str = "package";

/// The key of the library of the program that runs a package.
const LIBRARY_KEY: &str = "library";

/// The folder of installed packages, in the state directory.
const PACKAGES_DIRECTORY: &str = "servers/packages";

/// An installed package, and how its program is started.
pub(crate) struct LocatedPackage {
    pub(crate) installed: Arc<InstalledPackage>,
    /// The program of the machine that runs it, such as Node.js.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// The folder of the machine that the program needs besides the system's.
    pub(crate) library: Option<PathBuf>,
}

/// Returns the folder of the packages of a state directory. It need not exist.
pub fn packages_of(state: &Path) -> PathBuf {
    state.join(PACKAGES_DIRECTORY)
}

impl LocatedPackage {
    /// Finds a package of a state directory. Asks the machine for Node.js or Python, so it blocks.
    ///
    /// # Errors
    /// Why it cannot be used, in words.
    pub(super) fn find(state: &Path, package: &ServerPackage, server: &str) -> Result<Self, String> {
        let failed = |error: &(dyn std::error::Error + 'static)| OneLine(&WithCauses(error).to_string()).to_string();
        let spec: PackageSpec = package.spec.parse().map_err(|error| failed(&error))?;
        let store = PackageStore::open_existing(&packages_of(state)).map_err(|error| failed(&error))?;
        let installed = store.map(|store| store.installations(&spec)).transpose().map_err(|error| failed(&error))?;
        let installed = only_one(installed.unwrap_or_default(), &spec, server)?;
        let runtime = Runtime::find(spec.kind(), &ToolEnvironment::default()).map_err(|error| failed(&error))?;
        let command = installed.command(&runtime, package.program.as_deref(), None).map_err(|error| failed(&error))?;
        let arguments = command.arguments.into_iter().map(|argument| argument.into_string());
        let arguments = arguments.collect::<Result<_, _>>().map_err(|_| "its path is not UTF-8".to_owned())?;
        let library = runtime.prefix().filter(|prefix| !is_of_the_system(prefix)).map(Path::to_owned);
        Ok(Self { installed: Arc::new(installed), program: command.program, arguments, library })
    }
}

impl LocatedPackage {
    /// Opens the folders that the program needs: its own, and the library of the machine's program. No grant of the
    /// policy could lead to the first, because it is in the state directory.
    pub(super) fn directories(&self) -> Result<Vec<(DependencyKey, BoundDirectory)>, DirectoryError> {
        let library = self.library.as_deref().map(|path| (LIBRARY_KEY, path));
        let folders = [Some((PACKAGE_KEY, self.installed.path())), library];
        let mut directories = Vec::new();
        for (key, path) in folders.into_iter().flatten() {
            // Both keys are valid, so no folder is left out.
            let Ok(key) = DependencyKey::new(key) else { continue };
            let (directory, place) = (Directory::open(path, Access::ReadOnly)?, path.to_string_lossy().into_owned());
            directories.push((key, BoundDirectory { directory, place, narrow: None }));
        }
        Ok(directories)
    }
}

/// Returns the only installation of a package. Several have different files or platforms, and the host does not choose.
fn only_one<T>(installations: Vec<T>, spec: &PackageSpec, server: &str) -> Result<T, String> {
    <[T; 1]>::try_from(installations).map(|[installed]| installed).map_err(|installations| match installations.len() {
        0 => format!("{spec} is not installed: run `portcullis server install {server}`"),
        count => format!(
            "{spec} is installed {count} times, and the host does not choose among them: run `portcullis server install \
             {server}`, which installs it again and removes the others"
        ),
    })
}

/// Returns whether every confined program sees a folder.
fn is_of_the_system(folder: &Path) -> bool {
    ["/usr", "/bin", "/lib", "/lib64"].iter().any(|system| folder.starts_with(system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_installations_are_not_reported_as_none() {
        let spec: PackageSpec = "npm:notes@1.0.0".parse().unwrap();
        let find = |installations| only_one(installations, &spec, "notes");
        assert_eq!(find(vec!["one"]), Ok("one"));
        let none = "npm:notes@1.0.0 is not installed: run `portcullis server install notes`";
        assert_eq!(find(Vec::new()), Err(none.to_owned()));
        let several = find(vec!["one", "other"]).unwrap_err();
        assert!(several.contains("is installed 2 times") && !several.contains("is not installed"), "{several}");
        assert!(several.contains("run `portcullis server install notes`"), "{several}");
    }
}
