//! The arguments of `portcullis completions`, `portcullis man` and `portcullis help`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The directory for the pages of all commands, such as ~/.local/share/man/man1
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HelpArguments {
    /// The command, such as `call` or `approvals list`
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
