//! The arguments of `portcullis console`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ConsoleArguments {
    /// The port on 127.0.0.1; 0 picks a free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// Open the login link in your browser
    #[arg(long)]
    pub(crate) open: bool,
}
