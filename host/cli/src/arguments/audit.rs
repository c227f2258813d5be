//! The arguments of `portcullis audit`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the entries, oldest first
    Show(ShowArguments),
    /// Check that no entry was changed, removed or added
    Verify(VerifyArguments),
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Compare the audit log with its anchors in the database of a shared ledger, and list the logs of all its hosts
    #[arg(long)]
    pub(crate) all: bool,
    /// With --all: more state directories whose audit logs are checked, of other hosts or copies of them
    #[arg(value_name = "DIR", requires = "all")]
    pub(crate) directories: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// Maximum number of entries, counted from the last
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Show only the entries of this call: its id, or the first digits of the id
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
    /// Show the calls as a tree, each with the calls that its tool made
    #[arg(long, conflicts_with = "call")]
    pub(crate) tree: bool,
}
