//! The rules of pinned packages.

use portcullis_definitions::text::{Lines, OneLine};

/// The rule of pinned packages that a package breaks.
#[derive(Debug, thiserror::Error)]
pub enum PackageRefusal {
    /// What npm or pip wrote has another form than expected.
    #[error("cannot understand {document} of {tool}: {}. Update {tool}", OneLine(problem))]
    Document {
        /// The document.
        document: &'static str,
        /// Who wrote it.
        tool: &'static str,
        /// The problem.
        problem: String,
    },
    /// A dependency does not come from the registry.
    #[error(
        "`{}` comes from {}, and only packages of the registry can be pinned",
        OneLine(package),
        OneLine(source_address)
    )]
    ForeignSource {
        /// The dependency.
        package: String,
        /// Its address.
        source_address: String,
    },
    /// The registry gives no strong hash of a dependency.
    #[error("the registry has no {algorithm} hash of `{}`, so it cannot be pinned", OneLine(package))]
    NoIntegrity {
        /// The dependency.
        package: String,
        /// The required algorithm.
        algorithm: &'static str,
    },
    /// A dependency brings a lock file, which could name other sources.
    #[error("`{}` brings its own npm-shrinkwrap.json, whose sources cannot be checked", OneLine(package))]
    OwnLockFile {
        /// The dependency.
        package: String,
    },
    /// There are too many dependencies.
    #[error("it needs more than {packages_max} packages")]
    TooManyPackages {
        /// The limit.
        packages_max: usize,
    },
    /// Another package or version was installed than was asked for.
    #[error("the registry sent {} instead", OneLine(found))]
    OtherPackage {
        /// The package.
        found: String,
    },
    /// The second step did not install what the first step resolved.
    #[error("`{}` was not installed as it was resolved. Try again", OneLine(package))]
    NotAsResolved {
        /// The dependency.
        package: String,
    },
    /// The package has no program.
    #[error("it has no program to start. Only packages with {needed} can be servers")]
    NoProgram {
        /// What it would need.
        needed: &'static str,
    },
    /// The package's description of its programs cannot be used.
    #[error("its program `{}` cannot be started: {}", OneLine(program), Lines(problem))]
    Program {
        /// The program's name.
        program: String,
        /// The problem.
        problem: String,
    },
}
