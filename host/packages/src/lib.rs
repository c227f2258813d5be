//! Installs one package of npm or PyPI for a server: once, in one exact version, without running code of it. Owns the
//! folder of installed packages. Must not know what a server, a tool or a policy is, and must not start a server.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use portcullis_packages::{InstallOptions, PackageStore, Runtime};
//!
//! let store = PackageStore::open("/home/me/.local/state/portcullis/servers/packages".as_ref())?;
//! let spec = "npm:@modelcontextprotocol/server-memory@2025.4.25".parse()?;
//! let options = InstallOptions::default();
//! let package = store.install(&spec, &options)?;
//! let runtime = Runtime::find(spec.kind(), &options.environment)?;
//! let command = package.command(&runtime, None, None)?;
//! # Ok(())
//! # }
//! ```
//!
//! npm and pip are the machine's own, with the user's settings of registries. They resolve first. What they resolved is
//! checked: each package comes from the registry and has a strong hash. Then they install exactly that.

mod bounded_file;
mod choice;
mod damage;
mod difference;
mod environment;
mod error;
mod folder;
mod install;
mod installed;
mod limits;
mod manifest;
mod newest;
mod npm;
mod options;
mod program;
mod pypi;
mod refusal;
mod resolved;
mod runtime;
mod spec;
mod store;
mod tool;
mod tree;

pub use damage::{DamageError, TreeChange};
pub use difference::{DependencyVersions, PackageDifference, VersionChange, difference};
pub use environment::ToolEnvironment;
pub use error::PackageError;
pub use installed::{InstalledPackage, ServerCommand};
pub use limits::{
    INSTALL_BYTES_MAX, INSTALL_FILE_BYTES_MAX, INSTALL_FILES_MAX, INSTALL_PACKAGES_MAX, INSTALL_SECONDS_MAX,
    InstallLimits,
};
pub use manifest::{Dependency, ManifestError};
pub use options::InstallOptions;
pub use program::{Program, ProgramEntry};
pub use refusal::PackageRefusal;
pub use runtime::Runtime;
pub use spec::{PackageKind, PackageSpec, SpecError, SpecProblem};
pub use store::PackageStore;
pub use tool::{Tool, ToolError, ToolOutput};
pub use tree::{InstalledFile, InstalledLink, TreeError};
