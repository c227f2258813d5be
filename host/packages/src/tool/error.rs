//! The tools of the machine, and why they do not do their work.

use portcullis_definitions::text::Lines;
use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// A program of the machine that installs or runs packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Node.js.
    Node,
    /// npm.
    Npm,
    /// Python.
    Python,
    /// pip.
    Pip,
}

impl Tool {
    /// Returns the name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Npm => "npm",
            Self::Python => "python3",
            Self::Pip => "pip",
        }
    }

    /// Returns what to install if the tool is missing.
    fn remedy(self) -> &'static str {
        match self {
            Self::Node | Self::Npm => "Install Node.js 20 or newer with npm (on Debian: apt install nodejs npm)",
            Self::Python => "Install Python 3.10 or newer (on Debian: apt install python3)",
            Self::Pip => "Install pip 23.0 or newer (on Debian: apt install python3-pip)",
        }
    }
}

/// Why a tool did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The tool does not exist, or is too old.
    #[error("{} was not found, or is too old. {}, and put it on the PATH", tool.name(), tool.remedy())]
    Missing {
        /// The tool.
        tool: Tool,
    },
    /// The system could not start the tool.
    #[error("{} cannot be started: {source}", tool.name())]
    NotStarted {
        /// The tool.
        tool: Tool,
        /// The system's error.
        source: io::Error,
    },
    /// The tool failed.
    #[error("{} failed ({status}):\n{output}", tool.name())]
    Failed {
        /// The tool.
        tool: Tool,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it said.
        output: ToolOutput,
    },
    /// The time is over.
    #[error("{} did not end within {} s. Check the network, and try again", tool.name(), limit.as_secs_f32())]
    TimedOut {
        /// The tool.
        tool: Tool,
        /// The limit of the whole installation.
        limit: Duration,
    },
    /// The installation writes too many bytes.
    #[error("the package needs more than {bytes_max} bytes on disk. Use a smaller package")]
    TooManyBytes {
        /// The limit.
        bytes_max: u64,
    },
    /// The installation writes a file that is too large.
    #[error("the package has a file of more than {bytes_max} bytes. Use a smaller package")]
    TooLargeFile {
        /// The limit.
        bytes_max: u64,
    },
    /// The installation writes too many files.
    #[error("the package has more than {files_max} files, or too many nested directories. Use a smaller package")]
    TooManyFiles {
        /// The limit.
        files_max: u64,
    },
    /// The caller stopped the installation.
    #[error("the installation was cancelled")]
    Cancelled,
}

/// The end of a tool's output. It is untrusted: its `Display` encodes it.
#[derive(Debug)]
pub struct ToolOutput(pub(super) String);

impl fmt::Display for ToolOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Lines(&self.0).fmt(formatter)
    }
}
