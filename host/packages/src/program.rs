//! A program that a package offers.

use serde::{Deserialize, Serialize};

/// A program of an installed package. Its texts are untrusted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// What is started.
    pub entry: ProgramEntry,
}

/// What is started for a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProgramEntry {
    /// A script of Node.js, by its path in the package's folder.
    NodeScript(String),
    /// A function of Python.
    PythonFunction {
        /// The module, such as `mcp_server_git`.
        module: String,
        /// The function in it, such as `main` or `Application.run`.
        function: String,
    },
}
