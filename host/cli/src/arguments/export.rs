//! What `portcullis export` takes.

use clap::Args;
use portcullis::policy::{Permission, ToolPattern, ToolPatternError};
use portcullis_providers::{Format, UnknownFormat};

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The provider's format: openai-chat, openai-chat-strict, openai-responses, openai-responses-strict, anthropic,
    /// anthropic-strict, gemini, gemini-openapi, ollama, mistral or langchain
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) format: Format,
    /// Print no tools where anything is lost, and end with exit code 9
    #[arg(long)]
    pub(crate) deny_lossy: bool,
    /// Only these tools, such as files.* or git.log; more than one may be named
    #[arg(long = "tool", value_name = "PATTERN", value_parser = pattern)]
    pub(crate) tools: Vec<ToolPattern>,
    /// Only tools that can work with these rights, such as read,network
    #[arg(long, value_name = "RIGHTS", value_delimiter = ',', value_parser = permission)]
    pub(crate) permissions: Option<Vec<Permission>>,
    /// Only the tools that fit a need best, which is said in words
    #[arg(long, value_name = "NEED")]
    pub(crate) pick: Option<String>,
    /// How many tools --pick takes at the most
    #[arg(long, value_name = "N", requires = "pick", default_value_t = PICKED)]
    pub(crate) limit: usize,
}

/// Tools that are picked where nobody says how many: as many as models choose among well.
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
    Permission::ALL.into_iter().find(known).ok_or_else(|| format!("there is no such right; there are: {}", words()))
}
