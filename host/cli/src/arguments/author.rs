//! What people who write plugins type.

use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The plugin's name, which is also that of its folder: a-z, 0-9, - and _
    pub(crate) name: String,
    /// rust, ts, js, python, go, c, cpp or zig
    #[arg(long, value_name = "LANGUAGE", default_value = "rust")]
    pub(crate) lang: String,
}

/// What the commands take that build a project.
#[derive(Debug, Args)]
pub(crate) struct MakingArguments {
    /// Show the command of a compiler or another tool that fails
    #[arg(long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    /// The project
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Where the component goes [default: plugins/NAME.wasm in the project]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// What runs JavaScript, whatever the project says: quickjs or starlingmonkey
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) making: MakingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// The project
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Test this component, NAME.wasm, instead of building the project
    #[arg(long, value_name = "FILE.wasm")]
    pub(crate) component: Option<PathBuf>,
    /// The folder of cases, or one file of them [default: tests in the project]
    #[arg(long, value_name = "PATH")]
    pub(crate) cases: Option<PathBuf>,
    /// Only the cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    #[command(flatten)]
    pub(crate) making: MakingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// The project
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Where agents reach the tools over MCP
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8765")]
    pub(crate) http: SocketAddr,
    #[command(flatten)]
    pub(crate) making: MakingArguments,
}
