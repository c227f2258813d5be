//! `run`: runs a command with the shell.

use portcullis_sdk::prelude::*;

use crate::program::{Request, needs};

#[arguments]
pub(crate) struct Run {
    /// The command, as in a terminal. Pipes, redirections and several lines work. It cannot ask for input.
    #[schemars(length(min = 1, max = 100_000))]
    pub(crate) command: String,
    /// The number of seconds after which to end the command. Without it, the policy's limit applies.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86_400))]
    timeout: Option<u32>,
    /// The directory to start in, such as `/workspace/src`. Without it, the command starts in the first directory of
    /// the policy, usually `/workspace`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) directory: Option<String>,
    /// The text to pass to the command's stdin. Without it, stdin is empty.
    #[serde(default)]
    stdin: Option<String>,
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

/// Runs a command with the shell in a sandbox, and returns what it prints to stdout and stderr. The last line says how
/// it ended, such as `[exit code 0, 1.2 s]`. Check it: an exit code other than 0 usually means that the command failed.
/// Every call starts a new shell, so directories and variables do not carry over. Use the argument `directory`, or
/// begin with `cd DIR && `. Background processes end with the command. If a line says that the sandbox refused
/// something, do not look for a workaround: tell the user, or name what is missing in one of the arguments `needs_…`.
#[tool(requires(execute), optional(read, write, network), destructive, open_world, title = "Run a command")]
pub(crate) fn run(arguments: Run, context: &Context) -> Result<Success<String>, Failure> {
    let Run { command, timeout, directory, stdin, needs_host, needs_read, needs_write } = arguments;
    let needs = needs(needs_host, needs_read, needs_write)?;
    let request = Request { key: "sh", label: &command, timeout, directory, stdin, needs };
    request.execute(vec!["-c".to_owned(), command.clone()], context)
}
