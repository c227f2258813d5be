//! The installed package that the program of a server comes from.

use crate::text::{OneLine, WithCauses};
use portcullis_packages::{InstalledPackage, PackageSpec, PackageStore, Runtime, ToolEnvironment};
use portcullis_policy::ServerPackage;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
        let folder = packages_of(state);
        let installed = match folder.is_dir() {
            true => PackageStore::open(&folder).and_then(|store| store.list()).map_err(|error| failed(&error))?,
            false => Vec::new(),
        };
        let installed = installed.into_iter().filter(|installed| *installed.spec() == spec).collect::<Vec<_>>();
        let Ok([installed]) = <[InstalledPackage; 1]>::try_from(installed) else {
            return Err(format!("{spec} is not installed: run `portcullis server install {server}`"));
        };
        let runtime = Runtime::find(spec.kind(), &ToolEnvironment::default()).map_err(|error| failed(&error))?;
        let command = installed.command(&runtime, package.program.as_deref(), None).map_err(|error| failed(&error))?;
        let arguments = command.arguments.into_iter().map(|argument| argument.into_string());
        let arguments = arguments.collect::<Result<_, _>>().map_err(|_| "its path is not UTF-8".to_owned())?;
        let library = runtime.prefix().filter(|prefix| !is_of_the_system(prefix)).map(Path::to_owned);
        Ok(Self { installed: Arc::new(installed), program: command.program, arguments, library })
    }
}

/// Returns whether every confined program sees a folder.
fn is_of_the_system(folder: &Path) -> bool {
    ["/usr", "/bin", "/lib", "/lib64"].iter().any(|system| folder.starts_with(system))
}
