//! The arguments of `portcullis audit`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the entries, oldest first
    Show(ShowArguments),
    /// Check that no entry was changed, removed or added
    Verify,
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
