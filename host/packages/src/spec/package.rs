//! A package in one exact version, and its text.

use portcullis_definitions::text::{OneLine, cut};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use std::str::FromStr;

use super::problem::SpecProblem;
use super::{npm, pypi};

/// Maximum bytes of a specification. npm allows names of 214 bytes.
const SPEC_BYTES_MAX: usize = 300;

/// Maximum bytes of a version. The longest in use have a date and a commit.
const VERSION_BYTES_MAX: usize = 64;

/// Maximum bytes of a refused specification that an error quotes: one row of a terminal.
const QUOTED_BYTES_MAX: usize = 120;

/// A registry, and the tools that install from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageKind {
    /// npm, whose packages run in Node.js.
    Npm,
    /// PyPI, whose packages run in Python.
    Pypi,
}

impl PackageKind {
    /// Returns the prefix of a specification, without its colon.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
        }
    }

    /// Returns the sign between a name and a version.
    fn separator(self) -> &'static str {
        match self {
            Self::Npm => "@",
            Self::Pypi => "==",
        }
    }

    /// Returns a specification that is accepted, for errors.
    fn example(self) -> &'static str {
        match self {
            Self::Npm => "npm:@modelcontextprotocol/server-github@2025.4.8",
            Self::Pypi => "pypi:mcp-server-git==2025.1.14",
        }
    }
}

/// A package in one exact version, such as `npm:@modelcontextprotocol/server-github@2025.4.8` or
/// `pypi:mcp-server-git==2025.1.14`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PackageSpec {
    kind: PackageKind,
    name: String,
    version: String,
}

impl PackageSpec {
    /// Checks a name and a version.
    ///
    /// # Errors
    /// The registry does not allow the name, or the version is not exact.
    pub fn new(kind: PackageKind, name: &str, version: &str) -> Result<Self, SpecError> {
        text_of(kind, name, version).parse()
    }

    /// Returns the registry.
    pub fn kind(&self) -> PackageKind {
        self.kind
    }

    /// Returns the name. A name of PyPI is in its normalized form.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the exact version.
    pub fn version(&self) -> &str {
        &self.version
    }
}

impl Display for PackageSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&text_of(self.kind, &self.name, &self.version))
    }
}

fn text_of(kind: PackageKind, name: &str, version: &str) -> String {
    format!("{}:{name}{}{version}", kind.prefix(), kind.separator())
}

impl From<PackageSpec> for String {
    fn from(spec: PackageSpec) -> Self {
        spec.to_string()
    }
}

impl TryFrom<String> for PackageSpec {
    type Error = SpecError;

    fn try_from(text: String) -> Result<Self, SpecError> {
        text.parse()
    }
}

impl FromStr for PackageSpec {
    type Err = SpecError;

    /// Parses `npm:NAME@VERSION` or `pypi:NAME==VERSION`.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        parse(text).map_err(|(kind, problem)| SpecError { text: cut(text, QUOTED_BYTES_MAX).to_owned(), kind, problem })
    }
}

/// Why a specification is refused, with the registry if its prefix is known.
type Refusal = (Option<PackageKind>, SpecProblem);

fn parse(text: &str) -> Result<PackageSpec, Refusal> {
    if text.len() > SPEC_BYTES_MAX {
        return Err((None, SpecProblem::TooLong));
    }
    let (kind, rest) = if let Some(rest) = text.strip_prefix("npm:") {
        (PackageKind::Npm, rest)
    } else if let Some(rest) = text.strip_prefix("pypi:") {
        (PackageKind::Pypi, rest)
    } else {
        return Err((None, SpecProblem::Prefix));
    };
    let refused = |problem| (Some(kind), problem);
    // Only for a precise error: the parsers below refuse an address as well.
    if is_address(rest) {
        return Err(refused(SpecProblem::Address));
    }
    let (name, version) = match kind {
        PackageKind::Npm => npm::split(rest),
        PackageKind::Pypi => pypi::split(rest),
    }
    .map_err(refused)?;
    if version.len() > VERSION_BYTES_MAX {
        return Err(refused(SpecProblem::TooLong));
    }
    Ok(PackageSpec { kind, name, version: version.to_owned() })
}

/// Returns whether the text names a place instead of a package of the registry: a URL, a repository, or a file.
fn is_address(text: &str) -> bool {
    text.contains("://")
        || text.contains(" @ ")
        || [
            "git+",
            "git:",
            "github:",
            "file:",
            "link:",
            "http:",
            "https:",
            "npm:",
            "workspace:",
            "./",
            "../",
            "/",
            "~/",
        ]
        .iter()
        .any(|begin| text.starts_with(begin) || text.contains(&format!("@{begin}")))
}

/// A refused specification of a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a pinned package: {problem}. Write for example {}", OneLine(text), self.examples())]
pub struct SpecError {
    text: String,
    kind: Option<PackageKind>,
    problem: SpecProblem,
}

impl SpecError {
    /// Returns the reason.
    pub fn problem(&self) -> SpecProblem {
        self.problem
    }

    fn examples(&self) -> String {
        match self.kind {
            Some(kind) => kind.example().to_owned(),
            None => format!("{} or {}", PackageKind::Npm.example(), PackageKind::Pypi.example()),
        }
    }
}
