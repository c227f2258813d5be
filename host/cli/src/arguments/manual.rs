//! The arguments of `portcullis completions` and `portcullis man`.

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
