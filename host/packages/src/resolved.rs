//! What npm and pip return.

use crate::manifest::Dependency;
use crate::program::Program;
use crate::refusal::PackageRefusal;
use crate::tool::ToolError;

/// What npm or pip has installed into the tree of the work folder.
pub(crate) struct ResolvedPackage {
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) programs: Vec<Program>,
}

/// Why npm or pip could not install.
pub(crate) enum InstallFailure {
    Tool(ToolError),
    Refused(PackageRefusal),
}

impl From<ToolError> for InstallFailure {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

impl From<PackageRefusal> for InstallFailure {
    fn from(refusal: PackageRefusal) -> Self {
        Self::Refused(refusal)
    }
}
