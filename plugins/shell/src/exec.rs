//! `exec`: runs a program without a shell.

use portcullis_sdk::prelude::*;

use crate::program::{Request, needs};

/// A program of the manifest.
#[arguments]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProgramKey {
    /// The shell.
    Sh,
    /// Git.
    Git,
    /// Python.
    Python,
    /// Cargo.
    Cargo,
    /// Node.js.
    Node,
    /// Make.
    Make,
}

impl ProgramKey {
    /// Returns the key of the dependency.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sh => "sh",
            Self::Git => "git",
            Self::Python => "python",
            Self::Cargo => "cargo",
            Self::Node => "node",
            Self::Make => "make",
        }
    }
}

#[arguments]
pub(crate) struct Exec {
    /// The program. A program that the policy does not bind is not available.
    pub(crate) program: ProgramKey,
    /// The arguments after the program's name, one per item. No shell reads them, so do not quote them.
    #[schemars(length(max = 1000))]
    pub(crate) arguments: Vec<String>,
    /// The directory to start in, such as `/workspace/src`. Without it, the program starts in the first directory of
    /// the policy, usually `/workspace`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) directory: Option<String>,
    /// The text to pass to the program's stdin. Without it, stdin is empty.
    #[serde(default)]
    pub(crate) stdin: Option<String>,
    /// The number of seconds after which to end the program. Without it, the policy's limit applies.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86_400))]
    timeout: Option<u32>,
    /// A host and a port that the sandbox does not reach, such as `files.example.org:443`. A person is asked to allow
    /// it for this run, if the policy lets the program ask.
    #[serde(default)]
    #[schemars(length(min = 1, max = 300))]
    needs_host: Option<String>,
    /// A directory of the machine that the sandbox does not have, by its absolute path. A person is asked to let this
    /// run read it.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096))]
    needs_read: Option<String>,
    /// As `needs_read`, to read and write.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096))]
    needs_write: Option<String>,
}

/// Runs one program without a shell in a sandbox, and returns what it prints to stdout and stderr. Use it instead of
/// `run` when an argument has quotes, spaces or `$`: the program gets each argument unchanged. The last line says how
/// it ended, such as `[exit code 0, 1.2 s]`. Check it: an exit code other than 0 usually means that the program failed.
/// If a line says that the sandbox refused something, do not look for a workaround: tell the user, or name what is
/// missing in one of the arguments `needs_…`.
#[tool(requires(execute), optional(read, write, network), destructive, open_world, title = "Run a program")]
pub(crate) fn exec(arguments: Exec, context: &Context) -> Result<Success<String>, Failure> {
    let Exec { program, arguments, directory, stdin, timeout, needs_host, needs_read, needs_write } = arguments;
    let needs = needs(needs_host, needs_read, needs_write)?;
    let key = program.name();
    let label = std::iter::once(key).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    Request { key, label: &label, timeout, directory, stdin, needs }.execute(arguments, context)
}
