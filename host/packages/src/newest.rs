//! Finds an exact version for a package that is written without one, as launchers such as `npx` and `uvx` accept it.

use crate::error::PackageError;
use crate::options::InstallOptions;
use crate::resolved::InstallFailure;
use crate::runtime::Runtime;
use crate::spec::{PackageKind, PackageSpec};
use crate::store::PackageStore;
use crate::tool::ToolRunner;
use crate::{npm, pypi};

/// Characters of versions, ranges and tags.
const RANGE_CHARACTERS: &[u8] = b".-+^~<>=*| ";

impl PackageStore {
    /// Asks the registry for the newest version of a package. `range` is a range or a tag of npm; PyPI's newest wheel
    /// is taken without one. Blocks: call it on a blocking thread.
    ///
    /// # Errors
    /// npm or pip is missing or fails, or there is no such package.
    pub fn newest(
        &self,
        kind: PackageKind,
        name: &str,
        range: Option<&str>,
        options: &InstallOptions,
    ) -> Result<PackageSpec, PackageError> {
        let requirement = range.map_or_else(|| name.to_owned(), |range| format!("{name}@{range}"));
        let none = || PackageError::NoVersion { requirement: requirement.clone() };
        // Any version makes a specification whose name is checked, so that the tools read it as nothing else.
        let name = PackageSpec::new(kind, name, "1.0.0").map_err(|_| none())?.name().to_owned();
        // Without `:` and `/`, npm reads the range neither as a URL nor as a repository.
        let is_range =
            |range: &str| range.bytes().all(|byte| byte.is_ascii_alphanumeric() || RANGE_CHARACTERS.contains(&byte));
        if !range.is_none_or(is_range) {
            return Err(none());
        }
        let work = self.begin()?;
        let runner = ToolRunner::new(&work, options);
        let found = match kind {
            PackageKind::Npm => npm::newest(&runner, &requirement).map(|version| format!("npm:{name}@{version}")),
            PackageKind::Pypi => {
                let runtime = Runtime::find(kind, &options.environment)?;
                pypi::newest(&runner, &name, &runtime).map(|found| format!("pypi:{found}"))
            }
        };
        let found = found.map_err(|failure| match failure {
            InstallFailure::Tool(error) => PackageError::Tool(error),
            InstallFailure::Refused(_) => none(),
        })?;
        found.parse().map_err(|_| none())
    }
}
