//! The arguments of `portcullis import`.

use crate::clients::AgentClient;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Import only from this agent; repeat it for more [default: claude-code, cursor, vs-code, codex and opencode]
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) client: Vec<AgentClient>,
    /// Import only the server with this name in the configurations; repeat it for more
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Replace the imported servers in the configurations by Portcullis. A copy of each file stays beside it
    #[arg(long)]
    pub(crate) replace: bool,
    /// Write secret values to files in this directory, which only you can read [default: they become variables that you
    /// set for the host]
    #[arg(long, value_name = "DIR")]
    pub(crate) secrets_to: Option<PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}
