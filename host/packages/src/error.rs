//! Why a package cannot be installed, opened or started.

use portcullis_definitions::text::OneLine;
use std::io;
use std::path::PathBuf;

use crate::damage::DamageError;
use crate::refusal::PackageRefusal;
use crate::spec::PackageSpec;
use crate::tool::ToolError;
use crate::tree::TreeError;

/// Why a package cannot be installed or used.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// npm, pip, Node.js or Python is missing, failed, or reached a limit.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A package or one of its dependencies breaks a rule of pinned packages.
    #[error("{spec} cannot be installed: {refusal}")]
    Refused {
        /// What should be installed.
        spec: PackageSpec,
        /// The rule.
        refusal: PackageRefusal,
    },
    /// The installed files break a rule.
    #[error("{spec} cannot be installed: {source}. Report this to the author of the package")]
    Tree {
        /// What should be installed.
        spec: PackageSpec,
        /// The rule.
        source: TreeError,
    },
    /// An installed package is not as it was installed.
    #[error("the package in {} is damaged: {source}. Remove the folder and install the package again", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// The difference.
        source: DamageError,
    },
    /// The registry has no version that fits.
    #[error("the registry has no version of `{}` that can be pinned", OneLine(requirement))]
    NoVersion {
        /// What was asked for.
        requirement: String,
    },
    /// npm could read the text as something other than a package of the registry.
    #[error(
        "`{}` does not name a package of the registry: npm could read it as a file or an address. \
         Write a range such as NAME@^1.2, or a tag such as NAME@latest",
        OneLine(requirement)
    )]
    NotOfRegistry {
        /// What was asked for.
        requirement: String,
    },
    /// The package offers no program that can be started.
    #[error("{spec} has no program named `{}`. Choose one of: {}", OneLine(choice), OneLine(names))]
    NoSuchProgram {
        /// The package.
        spec: PackageSpec,
        /// The chosen name.
        choice: String,
        /// The names of its programs.
        names: String,
    },
    /// The package offers several programs, none of which has its name.
    #[error("{spec} has several programs. Choose one of: {}", OneLine(names))]
    SeveralPrograms {
        /// The package.
        spec: PackageSpec,
        /// The names of its programs.
        names: String,
    },
    /// The package was installed for another platform or another version of Python.
    #[error("{spec} was installed for {installed}, but this machine has {present}. Install the package again")]
    OtherPlatform {
        /// The package.
        spec: PackageSpec,
        /// The platform of the installation.
        installed: String,
        /// The platform of the machine.
        present: String,
    },
    /// A folder of the store cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What the host did.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Other users can change the store.
    #[error("the folder of packages {} can be changed by other users: run chmod go-w on it", path.display())]
    Exposed {
        /// The folder.
        path: PathBuf,
    },
}
