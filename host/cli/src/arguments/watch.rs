//! The options of `portcullis watch`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// Do not ring the bell and show no notification when a request comes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
