//! The arguments of the commands for plugin authors.

use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The name of the plugin and of its folder: a-z, 0-9, - and _
    pub(crate) name: String,
    /// rust, ts, js, python, go, c, cpp or zig
    #[arg(long, value_name = "LANGUAGE", default_value = "rust")]
    pub(crate) lang: String,
}

/// The options of the commands that build a project.
#[derive(Debug, Args)]
pub(crate) struct MakingArguments {
    /// If a compiler or another tool fails, show its command
    #[arg(long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    /// The project's folder
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Where to write the component [default: plugins/NAME.wasm in the project]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The JavaScript engine, in place of the project's choice: quickjs or starlingmonkey
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) making: MakingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// The project's folder
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Test this component, NAME.wasm, instead of building the project
    #[arg(long, value_name = "FILE.wasm")]
    pub(crate) component: Option<PathBuf>,
    /// A folder of case files, or one file [default: tests in the project]
    #[arg(long, value_name = "PATH")]
    pub(crate) cases: Option<PathBuf>,
    /// Run only the cases whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    #[command(flatten)]
    pub(crate) making: MakingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// The project's folder
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// The address at which agents reach the tools over MCP
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8765")]
    pub(crate) http: SocketAddr,
    #[command(flatten)]
    pub(crate) making: MakingArguments,
}
