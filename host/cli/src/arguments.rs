//! The command line as typed. It knows words and options, not what they default to or do.

mod author;
mod export;
mod principal;
mod serve;

pub(crate) use author::{BuildArguments, DevArguments, MakingArguments, NewArguments, TestArguments};
pub(crate) use export::ExportArguments;
pub(crate) use serve::{Answers, HttpArguments, Names, ServeArguments};

use crate::exit_code::Exit;
use clap::{Args, Parser, Subcommand, ValueEnum};
use portcullis::policy::Principal;
use principal::principal;
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
    /// Your policy [default: PORTCULLIS_POLICY, or portcullis/policy.toml in your config directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// The state directory: log, ledger and key [default: PORTCULLIS_STATE, or portcullis in the user's data directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Print one JSON document per result
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools, their permissions, and what the policy decides for a call
    List(ListToolsArguments),
    /// One plugin: what it offers, what it asks for, and what it is granted
    Inspect(InspectArguments),
    /// Would this plugin load? Every problem that was found, with its remedy, and how well it keeps the contract
    ///
    /// To see that, it is run: each tool once, with the smallest arguments that its schema takes, and the plugin once
    /// for a tool that it never offered. It is given no directory, no network and no other handle, is cancelled after a
    /// second each time, and run only where nothing else has to be mended. docs/conformance.md has the levels.
    #[command(verbatim_doc_comment)]
    Check(CheckArguments),
    /// Call a tool, once, under the policy
    Call(CallArguments),
    /// Serve the tools to agents, over MCP, until it is stopped
    Serve(ServeArguments),
    /// The tools as a model's provider takes them, and what is lost there
    Export(ExportArguments),
    /// Show what would happen to a call, by which rule, with which handles; runs nothing
    Explain(ExplainArguments),
    /// List and answer approval requests, and revoke approvals
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Trust a project's policy exactly as it is now; until then it can only narrow
    Trust(TrustArguments),
    /// Show or verify the audit log
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Start a plugin: a small project with one tool, in the language you like
    New(NewArguments),
    /// Build the project in this folder; installs what it takes, once
    Build(BuildArguments),
    /// Run a project's cases in the real host
    ///
    /// Each case has a plugin directory, a policy and a state of its own: --plugins, --policy and --state, and the
    /// variables that stand for them, change nothing here. docs/writing.md has what a case may say.
    #[command(verbatim_doc_comment)]
    Test(TestArguments),
    /// Build again at every change, serve the tools, and show the calls as they happen
    Dev(DevArguments),
    /// Compiles a component from stdin to stdout
    #[command(hide = true)]
    CompileWorker,
}

#[derive(Debug, Args)]
pub(crate) struct ListToolsArguments {
    /// Show about how many tokens a model reads for each tool, and for the short list of `serve --search`
    #[arg(long)]
    pub(crate) tokens: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// A plugin of the plugin directory, or a file: anything with a `/` or that ends with `.wasm`
    #[arg(value_name = "NAME|FILE.wasm")]
    pub(crate) plugin: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The component; description files beside it belong to it
    #[arg(value_name = "FILE.wasm")]
    pub(crate) file: PathBuf,
    /// End as for a refused plugin, with exit code 7, where there is a lint
    #[arg(long)]
    pub(crate) deny_lints: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The tool's full name, such as files.read
    pub(crate) tool: String,
    /// A JSON object; `-` reads it from stdin
    #[arg(default_value = "{}", allow_hyphen_values = true)]
    pub(crate) arguments: String,
    #[command(flatten)]
    pub(crate) caller: CallerArguments,
    /// Who answers if the call needs approval
    #[arg(long, value_enum, value_name = "WHO", default_value_t = Ask::Auto)]
    pub(crate) ask: Ask,
    /// Deny the call if it needs approval: short for --ask deny
    #[arg(long, conflicts_with = "ask")]
    pub(crate) no_ask: bool,
}

/// Who answers if a call needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ask {
    /// You, at this terminal or with `portcullis approvals`; without a terminal, the policy's `unattended` decides
    Auto,
    /// You, with `portcullis approvals`; the call waits
    Wait,
    /// No one now: the request stays open, and the call can be approved and run later
    Pending,
    /// No one: the call is denied
    Deny,
}

/// On whose behalf a call is made.
#[derive(Debug, Args)]
pub(crate) struct CallerArguments {
    /// The session that the call belongs to
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) session: String,
    /// The principal of the call [default: local]
    #[arg(long, value_name = "NAME", value_parser = principal)]
    pub(crate) principal: Option<Principal>,
    /// The sub-agent of the principal that makes it: it gets at most what the principal gets
    #[arg(long, value_name = "NAME")]
    pub(crate) sub_agent: Option<String>,
    /// A schedule or a program began the session, and no person is behind it
    #[arg(long)]
    pub(crate) automated: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The tool's full name, such as files.read
    pub(crate) tool: String,
    /// A JSON object; `-` reads it from stdin
    #[arg(default_value = "{}", allow_hyphen_values = true)]
    pub(crate) arguments: String,
    #[command(flatten)]
    pub(crate) caller: CallerArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List open approval requests and remembered approvals
    List(ListArguments),
    /// Show one request or remembered approval in full
    Show(IdArguments),
    /// Approve requests; if the process of a call has ended, run the call here and print its reply
    Approve(ApproveArguments),
    /// Deny a request
    Reject(RejectArguments),
    /// Revoke a remembered approval, or an approval of a call that has not run
    Revoke(IdArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Include settled requests, and revoked and expired approvals
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct IdArguments {
    /// The id; its first six digits are enough
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArguments {
    /// The ids of the approval requests; the first six digits of each are enough
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Approve also what --for covers, in this session
    #[arg(long, conflicts_with = "always")]
    pub(crate) session: bool,
    /// Approve also what --for covers, in every session
    #[arg(long)]
    pub(crate) always: bool,
    /// What the approval covers: an offer of the request, by its number or its pattern [default: 1, exactly this]
    #[arg(long = "for", value_name = "N|PATTERN")]
    pub(crate) covers: Option<String>,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArguments {
    /// The id of the request; its first six digits are enough
    pub(crate) id: String,
    /// A text for the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    /// The policy file; with --remove, the identity that --json printed works too
    pub(crate) file: PathBuf,
    /// Remove the trust
    #[arg(long)]
    pub(crate) remove: bool,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the entries, oldest first
    Show(ShowArguments),
    /// Check that no entry was changed, removed or added
    Verify,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// Maximum number of entries, counted from the last
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Show only the entries of this call: its id, or how the id begins
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
