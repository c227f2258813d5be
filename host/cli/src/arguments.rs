//! The parsed command line. Defaults that depend on the environment are filled in elsewhere.

mod audit;
mod author;
mod colour;
mod console;
mod editing;
mod examples;
mod export;
mod help;
mod import;
mod init;
mod log;
mod login;
mod manual;
mod principal;
mod serve;
mod server;
mod watch;

pub(crate) use audit::{AuditCommand, ShowArguments, VerifyArguments};
pub(crate) use author::{BenchArguments, BuildArguments, DevArguments, MakingArguments, NewArguments, TestArguments};
pub(crate) use colour::ColourChoice;
pub(crate) use console::ConsoleArguments;
pub(crate) use editing::{
    GrantArguments, PauseArguments, ResumeArguments, RuleArguments, SuggestArguments, WhenArgument,
};
pub(crate) use export::ExportArguments;
pub(crate) use help::{help_width, parse, parser, program};
pub(crate) use import::ImportArguments;
pub(crate) use init::{InitArguments, InitDecision, UninstallArguments, WebDecision};
pub(crate) use log::{LogArguments, LogCommand, LogFilterArguments};
pub(crate) use login::{LoginArguments, LogoutArguments};
pub(crate) use manual::{CompletionsArguments, HelpArguments, ManArguments};
pub(crate) use serve::{Answers, HttpArguments, LogFormat, ServeArguments, ToolNaming};
pub(crate) use server::{
    ServerAddArguments, ServerCommand, ServerInstallArguments, ServerListArguments, ServerRemoveArguments,
};
pub(crate) use watch::WatchArguments;

use crate::exit_code::Exit;
use clap::{Args, Parser, Subcommand, ValueEnum};
use portcullis::policy::Principal;
use principal::principal;
use std::path::PathBuf;

/// Run untrusted tools in a sandbox, under your policy
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, after_help = Exit::table(), disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The options of every command, before or after its name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct GlobalOptions {
    /// The plugin directory [default: PORTCULLIS_PLUGINS, or both portcullis/plugins in your data directory and
    /// ./plugins]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) plugins: Option<PathBuf>,
    /// Your policy file [default: PORTCULLIS_POLICY, the policy that `init` wrote for this directory or the nearest one
    /// above it, or portcullis/policy.toml in your config directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// The project: the directory whose policy, plugins and portcullis.toml are used [default: the working directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// The state directory: audit log, ledger, key [default: PORTCULLIS_STATE, or portcullis in your data directory]. A
    /// second --state names the database of a ledger that many hosts share: postgres://..., env:NAME or file:PATH
    #[arg(long, global = true, value_name = "DIR|DATABASE")]
    pub(crate) state: Vec<PathBuf>,
    /// The key of a ledger that many hosts share, 32 bytes or 64 digits [default: the key of the state directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ledger_key: Option<PathBuf>,
    /// Where many hosts keep large outputs: a shared directory, or s3://BUCKET/PREFIX [default: in the database]
    #[arg(long, global = true, value_name = "DIR|BUCKET")]
    pub(crate) outputs: Option<PathBuf>,
    /// Print one JSON document per result, also for errors; docs/json.md describes them
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour [default: auto, which respects NO_COLOR and CLICOLOR_FORCE]
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColourChoice::Auto)]
    #[arg(hide_default_value = true)]
    pub(crate) color: ColourChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set this project up: write its policy, install the plugins, and register the server with your agents
    ///
    /// Asks four questions, or takes flags and --yes. Everything is shown before it is written, and a second run
    /// changes nothing. The policy is in your configuration directory and applies to this directory and those below it.
    /// The configurations of agents are merged, and everything else in them stays. At the end, one call is made through
    /// what was written. docs/start.md shows a run.
    Init(InitArguments),
    /// Check everything that can be wrong with the installation, and name the remedy for each problem
    ///
    /// Exits with code 0 if there is no error, and with code 1 otherwise. Warnings do not change the exit code.
    Doctor,
    /// Remove what portcullis wrote outside of the program, after listing it
    ///
    /// Removes the entries in the configurations of agents, the policies of projects, the plugins that `init`
    /// installed, and the state directory. What you have changed since stays.
    Uninstall(UninstallArguments),
    /// List the tools, their permissions, and what the policy would decide for each
    List(ListToolsArguments),
    /// Show a plugin: its tools, what it asks for, and what the policy grants it
    Inspect(InspectArguments),
    /// Check whether a plugin loads, and report each problem with its remedy
    ///
    /// Also reports the conformance level. To find it, this runs the plugin: each tool once, with the smallest
    /// arguments that its schema accepts, and the plugin once for a tool that it does not have. The plugin gets no
    /// directory, no network and no other handle. Each run is cancelled after one second. Nothing runs while other
    /// problems remain. docs/conformance.md describes the levels.
    ///
    /// If the plugin generates tools, this makes them with the settings and directories of your policy, and checks them
    /// too. The policy needs a section [plugin.NAME]. If the plugin prepares its tools, this reports what it offers to
    /// the default caller. docs/dynamic-tools.md describes both.
    Check(CheckArguments),
    /// Call a tool once, under the policy
    Call(CallArguments),
    /// Serve the tools to agents over MCP, until stopped
    Serve(ServeArguments),
    /// Add, install, list and remove the MCP servers whose tools are offered under your policy
    #[command(subcommand)]
    Server(ServerCommand),
    /// Take the MCP servers of your agents into your policy, each confined, and replace them there if you want
    ///
    /// Reads the configurations of Claude Code, Cursor, VS Code, Codex CLI and opencode. Packages are pinned in one
    /// version and installed without running their code. Secrets never go into the policy. Everything is shown before
    /// it is written. docs/servers.md describes it.
    Import(ImportArguments),
    /// Print the tools in the format of a model provider, and report what is lost in it
    Export(ExportArguments),
    /// Show what would happen to a call, and by which rule; runs nothing
    Explain(ExplainArguments),
    /// Allow calls of a tool: edit your policy, after showing the difference and what it changes
    #[command(after_help = editing::RULE_HELP)]
    Allow(RuleArguments),
    /// Require approval for calls of a tool
    #[command(after_help = editing::RULE_HELP)]
    Ask(RuleArguments),
    /// Deny calls of a tool
    #[command(after_help = editing::RULE_HELP)]
    Deny(RuleArguments),
    /// Grant a plugin the directories, hosts and stores that it asks for
    #[command(after_help = editing::GRANT_HELP)]
    Grant(GrantArguments),
    /// Refuse every call from now on, in running servers too; asks nothing
    Pause(PauseArguments),
    /// End the pause
    Resume(ResumeArguments),
    /// Propose the smallest policy that would have allowed what was approved
    Suggest(SuggestArguments),
    /// List and answer approval requests, and revoke approvals
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Answer approval requests and look at calls on a web page of this machine, until stopped
    ///
    /// It prints a login link, which works once and for five minutes. SIGUSR1 prints another one. The page shows the
    /// requests of every host with this state directory, and also calls, tools, remembered approvals and the policy.
    /// docs/console.md describes it.
    Console(ConsoleArguments),
    /// Show the calls of all processes of this state directory as they run, and answer approval requests with one key
    ///
    /// `r` shows all requests in pages, each whole. After the last page, `y` approves all of them once. `n` denies all
    /// of them with one reason. If no process waits for an approved call, it runs here, and you see its reply.
    Watch(WatchArguments),
    /// Trust a project's policy exactly as it is now; until then it can only narrow yours
    Trust(TrustArguments),
    /// Accept the tools that a plugin generates, if they differ from those that you accepted before
    ///
    /// A plugin can make tools from its settings and its directories. The first tools are accepted when the plugin
    /// loads. If they differ later, the plugin's old tools stay in force. docs/dynamic-tools.md describes it.
    Accept(AcceptArguments),
    /// Log in to a server of your policy that wants OAuth, with your browser
    ///
    /// Shows who asks you to log in, and for what, before it opens the page. The token stays in your state directory,
    /// encrypted. It is sent only to the address that your policy names for the server.
    Login(LoginArguments),
    /// Log out of a server: revoke its token and remove it
    Logout(LogoutArguments),
    /// List the calls in local time: what each named, what became of it, and who approved it
    Log(LogArguments),
    /// Show or verify the audit log
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Create a plugin project with one tool, in the language of your choice
    New(NewArguments),
    /// Build the project in this folder; installs the toolchain on first use
    Build(BuildArguments),
    /// Run a project's test cases in the real host
    ///
    /// Each case has its own plugin directory, policy and state. --plugins, --policy and --state, and their environment
    /// variables, have no effect here. docs/writing.md describes the format of a case.
    Test(TestArguments),
    /// Measure the tools of a plugin: time, calls per second and memory
    #[command(long_about = author::BENCH_ABOUT)]
    Bench(BenchArguments),
    /// Rebuild on every change, serve the tools, and show the calls as they happen
    Dev(DevArguments),
    /// Print a script that completes commands and options in your shell
    Completions(CompletionsArguments),
    /// Print the manual page, or write the pages of all commands to a directory
    Man(ManArguments),
    /// Show the help of a command
    Help(HelpArguments),
    /// Show the version, the contract versions and the engine
    Version,
}

#[derive(Debug, Args)]
pub(crate) struct ListToolsArguments {
    /// List only the tools of this toolset of the policy, such as read-only
    #[arg(long, value_name = "NAME")]
    pub(crate) toolset: Option<String>,
    /// Estimate how many tokens a model reads for each tool, and for the short list of `serve --search`
    #[arg(long)]
    pub(crate) tokens: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The name of an installed plugin, or a file: anything that contains `/` or ends with `.wasm`
    #[arg(value_name = "NAME|FILE.wasm")]
    pub(crate) plugin: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The component; description files next to it are checked too
    #[arg(value_name = "FILE.wasm")]
    pub(crate) file: PathBuf,
    /// Exit with code 7, as for a refused plugin, if there is a lint
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
    #[arg(long, value_enum, value_name = "WHO", default_value_t = AskMode::Auto)]
    pub(crate) ask: AskMode,
    /// Deny the call if it needs approval: short for --ask deny
    #[arg(long, conflicts_with = "ask")]
    pub(crate) no_ask: bool,
}

/// Who answers if a call needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskMode {
    /// You, at this terminal or with `portcullis approvals`; without a terminal, the policy's `unattended` decides
    Auto,
    /// You, with `portcullis approvals`; the call waits
    Wait,
    /// No one now: the request stays open, and the call can be approved and run later
    Pending,
    /// No one: the call is denied
    Deny,
}

/// The session of a call that names none.
pub(crate) const DEFAULT_SESSION: &str = "default";

/// The caller of a call.
#[derive(Debug, Args)]
pub(crate) struct CallerArguments {
    /// The session that the call belongs to
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SESSION)]
    pub(crate) session: String,
    /// The principal of the call [default: local]
    #[arg(long, value_name = "NAME", value_parser = principal)]
    pub(crate) principal: Option<Principal>,
    /// The sub-agent of the principal that makes the call; it never gets more than the principal
    #[arg(long, value_name = "NAME")]
    pub(crate) sub_agent: Option<String>,
    /// The session was started by a schedule or a program, without a person
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
    /// Also approve what --for covers, in this session
    #[arg(long, conflicts_with = "always")]
    pub(crate) session: bool,
    /// Also approve what --for covers, in every session
    #[arg(long)]
    pub(crate) always: bool,
    /// What the approval covers: an offer of the request, by its number or its pattern [default: 1, exactly this]
    #[arg(long = "for", value_name = "N|PATTERN")]
    pub(crate) covers: Option<String>,
    /// Approve only these calls of a request about several, such as 1-3,7; the others are denied
    #[arg(long, value_name = "NUMBERS", conflicts_with_all = ["session", "always", "covers"])]
    pub(crate) calls: Option<String>,
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

#[derive(Debug, Args)]
pub(crate) struct AcceptArguments {
    /// The name of the plugin
    pub(crate) plugin: String,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
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
    fn global_options_are_accepted_before_and_after_the_command() {
        for line in [["portcullis", "--json", "list"], ["portcullis", "list", "--json"]] {
            assert!(Arguments::try_parse_from(line).unwrap().options.json);
        }
    }
}
