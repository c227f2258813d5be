//! The arguments of the commands that edit the policy.

use clap::{Args, ValueEnum};
use portcullis::policy::{Access, Permission, PluginName};
use portcullis_policy_edit::WhenValue;

/// The examples of the commands for rules.
pub(super) const RULE_HELP: &str = "\
Deny wins over ask, and ask over allow. An allow rule that your ask rules would overrule becomes an exception.
If a rule for exactly the same calls exists, its decision is replaced. If a deny still decides, the command says
which one, and changes nothing.

Examples:
  portcullis allow files.write --when 'path=src/**'
  portcullis ask 'files.*' --permission write
  portcullis deny 'web.*' --reason 'no network in this project'
  portcullis allow 'files.*' --hidden '.env*'";

/// The examples of `grant`.
pub(super) const GRANT_HELP: &str = "\
VALUE depends on the kind of the key, which `portcullis inspect PLUGIN` shows:
  directory  a path, relative to the policy's directory
  http       hosts, separated by commas
  store      session, principal or plugin, as docs/dependencies.md describes
  service    the name of a service of the application

Examples:
  portcullis grant files                      shows what the plugin asks for, and asks for each value
  portcullis grant files workspace=. --access read-write --hidden '.env*'
  portcullis grant web fetch=docs.rs,*.example.com";

#[derive(Debug, Args)]
pub(crate) struct RuleArguments {
    /// The tool, or a pattern such as 'files.*'
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// Only for calls with this argument: a name or JSON Pointer, and a pattern. Repeat it for more
    #[arg(long, value_name = "ARGUMENT=PATTERN", value_parser = when)]
    pub(crate) when: Vec<WhenArgument>,
    /// Only for this permission of the tool
    #[arg(long, value_parser = permission)]
    pub(crate) permission: Option<Permission>,
    /// Also hide these places in the directories of the plugin, such as '.env*'
    #[arg(long, value_name = "PATTERN")]
    pub(crate) hidden: Vec<String>,
    /// Also protect these places in the directories of the plugin from changes
    #[arg(long, value_name = "PATTERN")]
    pub(crate) read_only: Vec<String>,
    /// One line that replies and approval requests show
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The value of `--when`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WhenArgument {
    pub(crate) argument: String,
    pub(crate) value: WhenValue,
}

#[derive(Debug, Args)]
pub(crate) struct GrantArguments {
    /// The name of an installed plugin
    #[arg(value_name = "PLUGIN", value_parser = plugin)]
    pub(crate) plugin: PluginName,
    /// What to bind to a dependency key. Without any, shows what the plugin asks for, and asks
    #[arg(value_name = "KEY=VALUE", value_parser = binding)]
    pub(crate) bindings: Vec<(String, String)>,
    /// What the plugin may do with the directories
    #[arg(long, value_enum, default_value_t = GrantAccess::ReadOnly)]
    pub(crate) access: GrantAccess,
    /// Hide these places of the directories, such as '.env*'
    #[arg(long, value_name = "PATTERN")]
    pub(crate) hidden: Vec<String>,
    /// Protect these places of the directories from changes
    #[arg(long, value_name = "PATTERN")]
    pub(crate) read_only: Vec<String>,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What a plugin may do with a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrantAccess {
    /// Read it
    ReadOnly,
    /// Also change it
    ReadWrite,
}

impl From<GrantAccess> for Access {
    fn from(access: GrantAccess) -> Self {
        match access {
            GrantAccess::ReadOnly => Self::ReadOnly,
            GrantAccess::ReadWrite => Self::ReadWrite,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PauseArguments {
    /// One line that every refused call shows
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuggestArguments {
    /// Edit the policy as proposed, after showing the difference
    #[arg(long)]
    pub(crate) apply: bool,
    /// With --apply: do not ask for confirmation; required without a terminal
    #[arg(long, requires = "apply")]
    pub(crate) yes: bool,
}

/// Parses `ARGUMENT=PATTERN`. Numbers and booleans match arguments of their type. Quotes make a text of them.
fn when(text: &str) -> Result<WhenArgument, String> {
    let (argument, value) = text.split_once('=').ok_or("write ARGUMENT=PATTERN, such as path='src/**'")?;
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let value = match (quoted, value.parse::<i64>(), value.parse::<bool>()) {
        (Some(text), _, _) => WhenValue::Text(text.to_owned()),
        (None, Ok(number), _) => WhenValue::Integer(number),
        (None, Err(_), Ok(boolean)) => WhenValue::Boolean(boolean),
        (None, Err(_), Err(_)) => WhenValue::Text(value.to_owned()),
    };
    Ok(WhenArgument { argument: argument.to_owned(), value })
}

fn binding(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, such as workspace=.")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn permission(text: &str) -> Result<Permission, String> {
    text.parse().map_err(|error: portcullis::policy::PermissionError| format!("{error}: {}", error.remedy()))
}

pub(super) fn plugin(text: &str) -> Result<PluginName, String> {
    PluginName::new(text).map_err(|error| format!("{error}: {}", error.remedy()))
}
