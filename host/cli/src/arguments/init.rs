//! The arguments of `portcullis init`.

use crate::clients::AgentClient;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
pub(crate) struct InitArguments {
    /// The project's directory [default: --project, or the working directory]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Whether tools may read files of the project
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) read: Option<InitDecision>,
    /// Whether tools may change files of the project
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) write: Option<InitDecision>,
    /// A pattern of files that are always hidden; replaces the default list. Repeat it for more
    #[arg(long, value_name = "PATTERN")]
    pub(crate) hide: Vec<String>,
    /// Whether tools may fetch web pages; `ask` asks once for each host that you have not approved
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) web: Option<WebDecision>,
    /// Register only with this agent; repeat it for more [default: those that are found]
    #[arg(long, value_enum, value_name = "NAME", conflicts_with = "no_clients")]
    pub(crate) client: Vec<AgentClient>,
    /// Register with no agent
    #[arg(long)]
    pub(crate) no_clients: bool,
    /// Take back what `init` wrote for this project
    #[arg(long, conflicts_with_all = ["read", "write", "hide", "web", "client", "no_clients"])]
    pub(crate) undo: bool,
    /// Use the defaults, and do not ask; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

/// When a kind of call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitDecision {
    /// Always
    Allow,
    /// After your approval
    Ask,
    /// Never
    Deny,
}

/// When pages may be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WebDecision {
    /// After your approval
    Ask,
    /// Never
    Deny,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArguments {
    /// Keep the state directory: audit log, approvals and kept outputs
    #[arg(long)]
    pub(crate) keep_state: bool,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}
