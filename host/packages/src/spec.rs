//! What to install: a package of npm or PyPI in one exact version.
//!
//! The name and the version become arguments of npm and pip and a part of a folder's name. So both have a strict form.

mod npm;
mod package;
mod problem;
mod pypi;

pub use package::{PackageKind, PackageSpec, SpecError};
pub use problem::SpecProblem;
pub(crate) use pypi::{PypiVersion, normalized_name};
