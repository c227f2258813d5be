//! The arguments of `portcullis serve`.

use super::principal::principal;
use clap::{Args, ValueEnum};
use portcullis::policy::Principal;
use portcullis::{CALLS_DEFAULT, CALLS_MAX};
use portcullis_mcp::http::{AllowedHost, AllowedOrigin, SettingError};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// After how many seconds a call becomes a task, for clients that support tasks.
const TASK_AFTER_SECONDS: &str = "10";

/// How many seconds a call waits for an approver if its client does not ask one. Clients time out after 60.
const APPROVAL_WAIT_SECONDS: &str = "45";

/// How many seconds a server waits at startup for plugins that are being compiled. Small plugins are ready by then, and
/// no client has timed out: the first ones do after 30 seconds.
const START_WAIT_SECONDS: &str = "3";

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) transport: TransportArguments,
    /// The session that calls belong to [default: one for each client session]
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The principal of clients that do not authenticate [default: local]
    #[arg(long, value_name = "NAME", value_parser = principal)]
    pub(crate) principal: Option<Principal>,
    /// How tools are named
    #[arg(long, value_enum, value_name = "HOW", default_value_t = ToolNaming::Full)]
    pub(crate) tool_names: ToolNaming,
    /// Serve only the tools of this toolset of the policy; for clients, other tools do not exist
    #[arg(long, value_name = "NAME")]
    pub(crate) toolset: Option<String>,
    /// List two tools instead of all: one to find the others, and one to call them
    #[arg(long)]
    pub(crate) search: bool,
    /// Also list the tools that the policy never lets run
    #[arg(long)]
    pub(crate) list_denied: bool,
    /// Whose answer it is if a client answers an approval request
    #[arg(long, value_enum, value_name = "WHO", default_value_t = Answers::NotAPerson)]
    pub(crate) client_answers: Answers,
    /// After how many seconds a call becomes a task, such as 0.5, for clients that support tasks
    #[arg(long, value_name = "SECONDS", default_value = TASK_AFTER_SECONDS, value_parser = seconds)]
    pub(crate) task_after: Duration,
    /// After how many seconds a call that waits for your approval returns a result that says so. Made again after your
    /// approval, the same call runs. For clients that neither ask you themselves nor support tasks
    #[arg(long, value_name = "SECONDS", default_value = APPROVAL_WAIT_SECONDS, value_parser = seconds)]
    pub(crate) approval_wait: Duration,
    /// How many seconds to wait at startup for plugins that are being compiled; clients are notified of later ones as
    /// they become ready
    #[arg(long, value_name = "SECONDS", default_value = START_WAIT_SECONDS, value_parser = seconds)]
    pub(crate) start_wait: Duration,
    /// Maximum number of calls that run at the same time; more wait
    #[arg(long, value_name = "N", default_value_t = CALLS_DEFAULT, value_parser = clap::value_parser!(u32).range(1..=i64::from(CALLS_MAX)))]
    pub(crate) calls: u32,
    /// Omit links to kept outputs from results, for clients that cannot read them
    #[arg(long)]
    pub(crate) no_resource_links: bool,
    /// The format of the lines on stderr; RUST_LOG says which lines
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    #[command(flatten)]
    pub(crate) http: HttpArguments,
}

/// The transport; exactly one is required.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct TransportArguments {
    /// Serve the program that started this one, over stdin and stdout
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Serve at http://ADDRESS/mcp, such as 127.0.0.1:8080; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
}

/// How tools are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolNaming {
    /// plugin__tool
    Full,
    /// tool; no two plugins can have a tool of the same name
    Short,
}

/// The format of the lines on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// For programs: one JSON object per line
    Json,
}

/// Whose answer it is if a client answers an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Answers {
    /// No one's: requests wait for `portcullis approvals`
    #[value(name = "nobody")]
    NotAPerson,
    /// A person's: you know that the client asks one
    Person,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of --http")]
pub(crate) struct HttpArguments {
    /// Accept connections from other machines. Nothing is encrypted: put a TLS proxy in front
    #[arg(long, conflicts_with = "stdio")]
    pub(crate) allow_remote: bool,
    /// Another host name of this server, besides localhost and its address
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with = "stdio", value_parser = setting::<AllowedHost>)]
    pub(crate) allow_host: Vec<AllowedHost>,
    /// Another origin whose pages may call, besides those of this machine; port `*` matches any port
    #[arg(long, value_name = "ORIGIN", conflicts_with = "stdio", value_parser = setting::<AllowedOrigin>)]
    pub(crate) allow_origin: Vec<AllowedOrigin>,
    /// Also serve the console at http://ADDRESS/, for people with the token of an approver
    #[arg(long, conflicts_with = "stdio")]
    pub(crate) console: bool,
    /// Maximum tool calls of one principal in a second, on average. The rate limits of the policy apply as well
    /// [default: calls-per-second in [serve] of the policy, or 200]
    #[arg(long, value_name = "N", conflicts_with = "stdio", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) calls_per_second: Option<u32>,
    /// Maximum tool calls of one principal at once, after a time without calls
    /// [default: calls-burst in [serve] of the policy, or 2000]
    #[arg(long, value_name = "N", conflicts_with = "stdio", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) calls_burst: Option<u32>,
    /// Serve metrics at http://ADDRESS/metrics, and the probes, at an address of their own. Clients need no token
    #[arg(long, value_name = "ADDRESS", conflicts_with = "stdio")]
    pub(crate) metrics: Option<SocketAddr>,
    /// A file with the tokens that clients can use, one per line: TOKEN, or NAME:TOKEN for the principal mcp.NAME; and
    /// the tokens of the console: approver NAME:TOKEN
    /// [default: mcp-token in the state directory, and console-token for the console, created at the first start]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stdio", "no_auth", "oauth_issuer"])]
    pub(crate) token_file: Option<PathBuf>,
    /// Accept calls without a token, from every user and container of this machine
    #[arg(long, conflicts_with_all = ["stdio", "oauth_issuer"])]
    pub(crate) no_auth: bool,
    /// Accept tokens of this authorization server, each for the principal oauth.ISSUER.SUBJECT
    #[arg(long, value_name = "URL", conflicts_with = "stdio", requires_all = ["oauth_audience", "oauth_keys"])]
    pub(crate) oauth_issuer: Option<String>,
    /// The address of this server, as it is in tokens and in the configuration of clients
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    pub(crate) oauth_audience: Option<String>,
    /// The authorization server's keys, as a JSON Web Key Set
    #[arg(long, value_name = "FILE", requires = "oauth_issuer")]
    pub(crate) oauth_keys: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "give a number of seconds, such as 0.5".to_owned())?;
    // `from_secs_f64` would panic on negative numbers, NaN and infinity, which all parse.
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn setting<T: FromStr<Err = SettingError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: SettingError| error.to_string())
}
