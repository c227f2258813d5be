//! The arguments of the commands for plugin authors.

use clap::{Args, value_parser};
use std::net::SocketAddr;
use std::path::PathBuf;

/// How long each tool is measured by default, in seconds: thousands of calls of most tools, and dozens of processes.
const SECONDS_DEFAULT: u64 = 6;

/// Maximum time for each tool, in seconds. Longer measurements show nothing more.
const SECONDS_MAX: u64 = 600;

/// The long description of `bench`.
pub(super) const BENCH_ABOUT: &str = "Measure the tools of a plugin: time, calls per second and memory

Each tool is called with its first test case that is a single call and completes without an approver, or with \
--arguments. A call gets exactly what its case grants, and nothing with --arguments. --plugins, --policy and --state \
have no effect here. docs/writing.md explains the figures.";

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
pub(crate) struct BenchArguments {
    /// A component, a project's folder, or a directory of plugins
    #[arg(value_name = "PLUGIN|DIR", default_value = ".")]
    pub(crate) plugin: PathBuf,
    /// Measure only this tool, such as read or files.read
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Call the tool with this JSON object and without any grant, instead of a test case
    #[arg(long, value_name = "JSON", requires = "tool", allow_hyphen_values = true)]
    pub(crate) arguments: Option<String>,
    /// A folder of case files, or one file [default: tests in the project, or next to the component]
    #[arg(long, value_name = "PATH")]
    pub(crate) cases: Option<PathBuf>,
    /// How long to measure each tool, in seconds
    #[arg(long, value_name = "N", default_value_t = SECONDS_DEFAULT, value_parser = value_parser!(u64).range(1..=SECONDS_MAX))]
    pub(crate) seconds: u64,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Show the figures of this saved run beside the new ones
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Exit with code 1 if a figure is worse than the saved one by more than this factor, such as 1.5
    #[arg(long, value_name = "RATIO", requires = "compare", value_parser = ratio)]
    pub(crate) fail_above: Option<f64>,
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

/// Parses a factor. Below 1, a run that is as good as the saved one would fail.
fn ratio(text: &str) -> Result<f64, String> {
    // `parse` also accepts `nan` and `inf`, with which nothing would ever be worse.
    let ratio = text.parse::<f64>().ok().filter(|ratio| ratio.is_finite() && *ratio >= 1.0);
    ratio.ok_or_else(|| "it must be a number from 1, such as 1.5".to_owned())
}
