//! The command line as typed. It knows words and options, not what they default to or do.

mod author;
mod export;
mod serve;

pub(crate) use author::{BuildArguments, DevArguments, NewArguments, TestArguments};
pub(crate) use export::ExportArguments;
pub(crate) use serve::{Answers, HttpArguments, Names, ServeArguments};

use crate::exit_code::Exit;
use clap::{Args, Parser, Subcommand, ValueEnum};
use portcullis::policy::{Principal, PrincipalError};
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
    /// What would happen to a call, by which rule, with which handles; runs nothing
    Explain(ExplainArguments),
    /// What waits for you, and what you have answered
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Trust a project's policy, exactly as it is now: until then it can only narrow
    Trust(TrustArguments),
    /// The record of what was asked, decided and done
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
    /// About how many tokens a model reads for each tool, and for the short list of `serve --search`
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
    /// Who answers where the policy says ask
    #[arg(long, value_enum, value_name = "WHO", default_value_t = Ask::Auto)]
    pub(crate) ask: Ask,
    /// Deny where the policy says ask: short for --ask deny
    #[arg(long, conflicts_with = "ask")]
    pub(crate) no_ask: bool,
}

/// Who answers where the policy says ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ask {
    /// You, at this terminal or with `portcullis approvals`; without a terminal what the policy says of that
    Auto,
    /// Whoever answers with `portcullis approvals`; the call waits
    Wait,
    /// Nobody now: the call is left behind, to be approved and run later
    Pending,
    /// Nobody: the call is denied
    Deny,
}

/// On whose behalf a call is made.
#[derive(Debug, Args)]
pub(crate) struct CallerArguments {
    /// The session that the call belongs to
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) session: String,
    /// On whose behalf it is made [default: local]
    #[arg(long, value_name = "NAME", value_parser = principal)]
    pub(crate) principal: Option<Principal>,
    /// The sub-agent of the principal that makes it: it gets at most what the principal gets
    #[arg(long, value_name = "NAME")]
    pub(crate) sub_agent: Option<String>,
    /// A schedule or a program began the session, and no person is behind it
    #[arg(long)]
    pub(crate) automated: bool,
}

fn principal(text: &str) -> Result<Principal, String> {
    text.parse().map_err(|error: PrincipalError| format!("{error}: {}", error.remedy()))
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
    /// The questions that wait, and the answers that hold
    List(ListArguments),
    /// One question or answer, with all that belongs to it
    Show(IdArguments),
    /// Say yes; a call whose process has gone is run here, and its reply printed
    Approve(ApproveArguments),
    /// Say no
    Reject(RejectArguments),
    /// Take an answer for longer back, or the yes to a call that has not run
    Revoke(IdArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Also what is settled, revoked and expired
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct IdArguments {
    /// Its id, or how that begins: six digits at least
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArguments {
    /// The ids of the approval requests; the first six digits of each are enough
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Yes also to what --for covers, in this session
    #[arg(long, conflicts_with = "always")]
    pub(crate) session: bool,
    /// Yes also to what --for covers, in every session
    #[arg(long)]
    pub(crate) always: bool,
    /// What the answer covers: one of what the question offers, by its number or its pattern [default: 1, exactly this]
    #[arg(long = "for", value_name = "N|PATTERN")]
    pub(crate) covers: Option<String>,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArguments {
    /// The question's id, or how that begins: six digits at least
    pub(crate) id: String,
    /// What the model should know
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    /// The policy file; with --remove, the identity that --json printed works too
    pub(crate) file: PathBuf,
    /// Trust it no longer
    #[arg(long)]
    pub(crate) remove: bool,
    /// Do not ask whether you are sure
    #[arg(long)]
    pub(crate) yes: bool,
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
