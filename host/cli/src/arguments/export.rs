//! The arguments of `portcullis export`.

use clap::Args;
use portcullis::policy::{Permission, ToolPattern, ToolPatternError};
use portcullis_providers::{Format, UnknownFormat};

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The provider's format: openai-chat, openai-chat-strict, openai-responses, openai-responses-strict, anthropic,
    /// anthropic-strict, gemini, gemini-openapi, ollama, mistral or langchain
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) format: Format,
    /// If anything is lost, print no tools and exit with code 9
    #[arg(long)]
    pub(crate) deny_lossy: bool,
    /// Export only these tools, such as files.* or git.log; can be repeated
    #[arg(long = "tool", value_name = "PATTERN", value_parser = pattern)]
    pub(crate) tools: Vec<ToolPattern>,
    /// Export only the tools of this toolset of the policy, such as read-only
    #[arg(long, value_name = "NAME")]
    pub(crate) toolset: Option<String>,
    /// Export what the policy offers to this model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Export what the policy offers to this client
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
    /// Export only tools that can work with these permissions, such as read,network
    #[arg(long, value_name = "PERMISSIONS", value_delimiter = ',', value_parser = permission)]
    pub(crate) permissions: Option<Vec<Permission>>,
    /// Export only the tools that best fit a need, described in words
    #[arg(long, value_name = "NEED")]
    pub(crate) pick: Option<String>,
    /// Maximum number of tools that --pick exports
    #[arg(long, value_name = "N", requires = "pick", default_value_t = PICKED)]
    pub(crate) limit: usize,
}

/// The default of `--limit`. Models choose well among about this many tools.
const PICKED: usize = 10;

fn format(text: &str) -> Result<Format, String> {
    text.parse().map_err(|error: UnknownFormat| error.to_string())
}

fn pattern(text: &str) -> Result<ToolPattern, String> {
    ToolPattern::new(text).map_err(|error: ToolPatternError| format!("{error}: {}", error.remedy()))
}

fn permission(text: &str) -> Result<Permission, String> {
    let known = |permission: &Permission| permission.as_str() == text;
    let words = || Permission::ALL.map(Permission::as_str).join(", ");
    Permission::ALL.into_iter().find(known).ok_or_else(|| format!("no such permission; use one of: {}", words()))
}
