//! The command line as typed. It knows words and options, not what they default to or do.

use crate::exit_code::Exit;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Run tools that nobody has to trust.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, after_help = Exit::table(), disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes, before or after its name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Options {
    /// The directory of plugins [default: ./plugins, or PORTCULLIS_PLUGINS]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) plugins: Option<PathBuf>,
    /// The policy [default: ./portcullis.toml; without one everything is denied]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// The record, the key and the cache [default: PORTCULLIS_STATE, or portcullis in the user's data directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Print one JSON document per result
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The tools, their permissions, and what would happen to a call now
    List,
    /// One plugin: what it offers, what it asks for, and what it is granted
    Inspect(InspectArguments),
    /// Would this plugin load? Every problem that was found, with its remedy
    Check(CheckArguments),
    /// Call a tool, once, under the policy
    Call(CallArguments),
    /// What would happen to a call, by which rule, with which handles; runs nothing
    Explain(ExplainArguments),
    /// The record of what was asked, decided and done
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Compiles a component from stdin to stdout
    #[command(hide = true)]
    CompileWorker,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// A plugin of the plugin directory, or a file: anything with a `/` or that ends with `.wasm`
    #[arg(value_name = "NAME|FILE.wasm")]
    pub(crate) plugin: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The tool's full name, such as files.read
    pub(crate) tool: String,
    /// A JSON object; `-` reads it from stdin
    #[arg(default_value = "{}", allow_hyphen_values = true)]
    pub(crate) arguments: String,
    /// The session that the call belongs to
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) session: String,
    /// Deny where the policy says ask, without asking
    #[arg(long)]
    pub(crate) no_ask: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The tool's full name, such as files.read
    pub(crate) tool: String,
    /// A JSON object; `-` reads it from stdin
    #[arg(default_value = "{}", allow_hyphen_values = true)]
    pub(crate) arguments: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// The entries, the oldest first
    Show(ShowArguments),
    /// Is the record what was written, every entry of it?
    Verify,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// How many entries, counted from the last
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Only this call, with everything that was recorded of it: its id, or how that begins
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_stand_before_and_after_the_command() {
        for line in [["portcullis", "--json", "list"], ["portcullis", "list", "--json"]] {
            assert!(Arguments::try_parse_from(line).unwrap().options.json);
        }
    }
}
