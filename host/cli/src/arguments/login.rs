//! The arguments of `portcullis login` and `portcullis logout`.

use super::editing::plugin;
use clap::Args;
use portcullis::policy::PluginName;

#[derive(Debug, Args)]
pub(crate) struct LoginArguments {
    /// The name of the server
    #[arg(value_name = "NAME", value_parser = plugin)]
    pub(crate) server: PluginName,
    /// Print the page instead of opening it, for a browser on another machine
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArguments {
    /// The name of the server
    #[arg(value_name = "NAME", value_parser = plugin)]
    pub(crate) server: PluginName,
}
