//! Installs a package: resolve, check, unpack, check, move into place.

use crate::error::PackageError;
use crate::installed::InstalledPackage;
use crate::manifest::{Contents, MANIFEST_FILE, Manifest, ManifestError};
use crate::options::InstallOptions;
use crate::resolved::{InstallFailure, ResolvedPackage};
use crate::runtime::Runtime;
use crate::spec::{PackageKind, PackageSpec};
use crate::store::{PackageStore, WorkFolder};
use crate::tool::ToolRunner;
use crate::{npm, pypi, tree};

impl PackageStore {
    /// Installs a package with the machine's npm or pip, without running code of it. Blocks: call it on a blocking
    /// thread. If the same files are already installed, returns that installation.
    ///
    /// # Errors
    /// npm or pip is missing or fails, a limit is reached, or the package breaks a rule of pinned packages.
    pub fn install(&self, spec: &PackageSpec, options: &InstallOptions) -> Result<InstalledPackage, PackageError> {
        let runtime = Runtime::find(spec.kind(), &options.environment)?;
        let work = self.begin()?;
        let runner = ToolRunner::new(&work, options);
        let resolved = match spec.kind() {
            PackageKind::Npm => npm::install(&runner, spec),
            PackageKind::Pypi => pypi::install(&runner, spec, &runtime),
        };
        let resolved = resolved.map_err(|failure| match failure {
            InstallFailure::Tool(error) => PackageError::Tool(error),
            InstallFailure::Refused(refusal) => PackageError::Refused { spec: spec.clone(), refusal },
        })?;
        let manifest = seal(&work, spec, &runtime, resolved, options)?;
        self.finish(&work, &manifest)
    }
}

/// Hashes what was installed, and makes it read-only.
fn seal(
    work: &WorkFolder,
    spec: &PackageSpec,
    runtime: &Runtime,
    resolved: ResolvedPackage,
    options: &InstallOptions,
) -> Result<Manifest, PackageError> {
    let refused = |source| PackageError::Tree { spec: spec.clone(), source };
    let limits = &options.limits;
    // Nothing of the package has this name. If it has, the manifest cannot be created.
    let listing = tree::list(work.tree(), MANIFEST_FILE, limits.files_max, limits.bytes_max).map_err(refused)?;
    let files = tree::hash_files(work.tree(), &listing.files).map_err(refused)?;
    tree::make_read_only(work.tree(), &listing).map_err(refused)?;
    let ResolvedPackage { mut dependencies, mut programs } = resolved;
    // The tree hash covers both lists, so their order must not depend on the tool.
    dependencies.sort();
    programs.sort();
    let contents = Contents {
        spec: spec.clone(),
        platform: runtime.platform().to_owned(),
        programs,
        dependencies,
        files,
        links: listing.links,
    };
    let damaged = |source: ManifestError| PackageError::Damaged { path: work.tree_path(), source: source.into() };
    Manifest::new(contents).map_err(damaged)
}
