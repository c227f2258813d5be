//! The options of `portcullis log`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LogArguments {
    #[command(subcommand)]
    pub(crate) command: Option<LogCommand>,
    #[command(flatten)]
    pub(crate) filter: LogFilterArguments,
    /// Also show the calls that are made from now on, until interrupted
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Maximum number of calls, counted from the last
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Show everything about one call, with its change if the approval request is still open
    Show(LogShowArguments),
}

#[derive(Debug, Args)]
pub(crate) struct LogShowArguments {
    /// The id of the call; its first six digits are enough
    pub(crate) call: String,
}

#[derive(Debug, Args)]
pub(crate) struct LogFilterArguments {
    /// Only calls since then: today, yesterday, 2h, 2026-11-24 or 2026-11-24T10:00
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only calls before then
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only calls of these tools, as in a rule: files.write or files.*
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// Only calls of this session
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Only calls that were denied, by the policy or a person
    #[arg(long)]
    pub(crate) denied: bool,
    /// Only calls that needed approval
    #[arg(long)]
    pub(crate) asked: bool,
}
