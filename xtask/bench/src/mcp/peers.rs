//! Servers that others' libraries make, with the same tool as the guest. They isolate nothing.

use std::env::var_os;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with the program of Node, as for the tests.
const NODE: &str = "PORTCULLIS_TEST_NODE";

/// The variable with the packages of Node, as for the tests.
const NODE_MODULES: &str = "PORTCULLIS_TEST_NODE_MODULES";

/// The variable with the interpreter of a Python environment that has FastMCP.
const FASTMCP: &str = "PORTCULLIS_BENCH_FASTMCP";

/// A server to measure beside ours.
pub(crate) struct Peer {
    /// The name for the table.
    pub(crate) name: &'static str,
    program: PathBuf,
    file: PathBuf,
    /// The divisor for the calls of a block, because some servers are much slower.
    pub(super) slower: usize,
}

impl Peer {
    /// Returns the servers whose programs the environment names.
    pub(crate) fn all() -> Vec<Self> {
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        let node = var_os(NODE).filter(|_| var_os(NODE_MODULES).is_some());
        let known = [
            ("Node SDK", node.clone(), "node.mjs", 1),
            ("Node SDK, low level", node, "bare_node.mjs", 1),
            ("FastMCP", var_os(FASTMCP), "fast_mcp.py", 10),
        ];
        let peer = |(name, program, file, slower): (_, Option<_>, _, _)| {
            Some(Self { name, program: PathBuf::from(program?), file: files.join(file), slower })
        };
        known.into_iter().filter_map(peer).collect()
    }

    /// Returns whether the server also has the tool `add`, like the conformance plugin.
    pub(crate) fn has_sum(&self) -> bool {
        self.file.ends_with("fast_mcp.py")
    }

    /// Returns the command that runs the server.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(&self.file);
        command
    }
}

/// The processors that this process and the servers that it starts use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cores {
    /// All that the process was given.
    All,
    /// One.
    One,
}

impl Cores {
    /// Returns the words for the table.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::All => "",
            Self::One => ", one core",
        }
    }
}
