//! Node.js or Python of this machine: where it is, and which packages it can run.

use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

use crate::environment::ToolEnvironment;
use crate::spec::PackageKind;
use crate::tool::{Tool, ToolError};

/// The oldest Node.js on which the servers of the protocol's SDK run.
const NODE_MAJOR_MIN: u64 = 20;

/// The oldest Python on which the servers of the protocol's SDK run.
const PYTHON_MIN: (u64, u64) = (3, 10);

/// Prints the facts about Node.js.
const NODE_FACTS: &str = include_str!("runtime/facts.cjs");

/// Prints the facts about Python.
const PYTHON_FACTS: &str = include_str!("runtime/facts.py");

/// Node.js or Python of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    kind: PackageKind,
    facts: RuntimeFacts,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct RuntimeFacts {
    major: u64,
    minor: u64,
    program: PathBuf,
    tool: PathBuf,
    platform: String,
    prefix: Option<PathBuf>,
}

impl Runtime {
    /// Finds Node.js or Python on the `PATH`, and asks it for its version.
    ///
    /// # Errors
    /// It is missing or too old.
    pub fn find(kind: PackageKind, environment: &ToolEnvironment) -> Result<Self, ToolError> {
        let (tool, arguments) = match kind {
            PackageKind::Npm => (Tool::Node, ["-e", NODE_FACTS].as_slice()),
            PackageKind::Pypi => (Tool::Python, ["-I", "-c", PYTHON_FACTS].as_slice()),
        };
        let not_started = |source| ToolError::NotStarted { tool, source };
        let output = environment.command(tool.name()).args(arguments).current_dir("/").output();
        let output = output.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ToolError::Missing { tool },
            _ => not_started(source),
        })?;
        // A version that is too old may not know what it is asked.
        let facts = serde_json::from_slice(&output.stdout).map_err(|_| ToolError::Missing { tool })?;
        let runtime = Self { kind, facts };
        if runtime.is_supported() { Ok(runtime) } else { Err(ToolError::Missing { tool }) }
    }

    fn is_supported(&self) -> bool {
        let RuntimeFacts { major, minor, .. } = self.facts;
        match self.kind {
            PackageKind::Npm => major >= NODE_MAJOR_MIN,
            PackageKind::Pypi => (major, minor) >= PYTHON_MIN,
        }
    }

    /// Returns the registry whose packages it runs.
    pub fn kind(&self) -> PackageKind {
        self.kind
    }

    /// Returns the path of the program.
    pub fn program(&self) -> &Path {
        &self.facts.program
    }

    /// Returns the folder with the standard library of Python, which a confined server must be able to read. Node.js
    /// has its library in its program.
    pub fn prefix(&self) -> Option<&Path> {
        self.facts.prefix.as_deref()
    }

    /// Returns the platform that packages are resolved for, such as `cpython-311-linux-x86_64` or `linux-x64`.
    pub fn platform(&self) -> &str {
        &self.facts.platform
    }

    /// Returns the program with which the package manager runs.
    pub(crate) fn tool_program(&self) -> &Path {
        &self.facts.tool
    }
}
