//! A scripted host for the tests of a plugin. It is the only host of a native build.
//!
//! ```
//! # use portcullis_sdk::prelude::*;
//! # /// Counts the files.
//! # #[tool(requires(read))]
//! # fn count(context: &Context) -> Result<String, Failure> {
//! #     context.check_cancelled()?;
//! #     Ok(context.directory("workspace")?.path().display().to_string())
//! # }
//! # plugin! { name: "files", description: "Works on files.", tools: [count],
//! #     dependencies: [directory "workspace": "the files"] }
//! # fn main() {
//! use portcullis_sdk::testing::{Context, call, problems};
//!
//! assert_eq!(problems(&PLUGIN), Vec::<String>::new());
//!
//! let context = Context::new().directory("workspace", "/tmp/some-directory");
//! assert!(call(&PLUGIN, "count", json!({}), &context).is_ok());
//!
//! let context = Context::new().directory("workspace", "/tmp/some-directory").cancelled();
//! assert_eq!(call(&PLUGIN, "count", json!({}), &context), Err(Failure::Cancelled));
//! # }
//! ```

mod body;
mod context;
mod declared;
mod host;
mod network;
mod program;
mod store;
mod text;
mod toolset;

pub(crate) use body::Body;
pub use context::Context;
pub use host::Question;
pub(crate) use host::{Handle, Host};
pub use network::Reply;
pub(crate) use network::{Client, Service};
pub use program::{Execution, Started};
pub(crate) use program::{InputPipe, OutputPipe, Program, Running};
pub(crate) use store::Bucket;
pub(crate) use text::Text;
pub(crate) use toolset::Toolset;

use serde_json::Value;

use crate::{Failure, FileChange, Plugin, Success, Verdict};

/// Calls a tool through the same parsing, look-up and conversions as in a guest.
///
/// Like a host, it refuses an argument that the schema does not name, and a handle whose permission the tool does not
/// declare.
///
/// # Errors
/// There is no such tool, the arguments are wrong, or the tool failed.
#[expect(clippy::needless_pass_by_value, reason = "tests write `json!({...})`")]
pub fn call(plugin: &Plugin, tool: &str, arguments: Value, context: &crate::Context) -> Result<Success, Failure> {
    let tools = plugin.manifest().tools;
    let definition = tools.iter().find(|definition| definition.name == tool);
    if let Some(definition) = definition {
        refuse_unknown(&definition.schema, &arguments)?;
    }
    context.host().declared.set(definition);
    let answer = plugin.execute(tool, &arguments.to_string(), context);
    context.host().declared.set(None);
    answer
}

/// Lets the plugin review a call, as a host does before the call runs. The review can read stores, but not change them.
#[must_use]
#[expect(clippy::needless_pass_by_value, reason = "tests write `json!({...})`")]
pub fn review(plugin: &Plugin, tool: &str, arguments: Value, context: &crate::Context) -> Verdict {
    context.host().reviewing.set(true);
    let verdict = plugin.review(tool, &arguments.to_string(), context.host());
    context.host().reviewing.set(false);
    verdict
}

/// Lets the plugin compute what a call would change, as a host does before it requests approval.
///
/// # Errors
/// The plugin cannot compute it.
#[expect(clippy::needless_pass_by_value, reason = "tests write `json!({...})`")]
pub fn preview(
    plugin: &Plugin,
    tool: &str,
    arguments: Value,
    context: &crate::Context,
) -> Result<Vec<FileChange>, Failure> {
    plugin.preview(tool, &arguments.to_string(), context)
}

/// Returns the reasons for which a host would refuse the plugin, beyond what the compiler has checked.
#[must_use]
pub fn problems(plugin: &Plugin) -> Vec<String> {
    let manifest = plugin.manifest();
    let mut problems = Vec::new();
    for (name, text) in std::iter::once((manifest.name, manifest.description))
        .chain(manifest.tools.iter().map(|tool| (tool.name, tool.description)))
    {
        if text.trim().is_empty() {
            problems.push(format!("`{name}` has no description"));
        }
        if text.chars().any(|character| character.is_control() && character != '\n') {
            problems.push(format!("the description of `{name}` has control characters"));
        }
    }
    problems
}

fn refuse_unknown(schema: &Value, arguments: &Value) -> Result<(), Failure> {
    let Some(arguments) = arguments.as_object() else { return Ok(()) };
    let closed = schema["additionalProperties"] == Value::Bool(false);
    match arguments.keys().find(|name| closed && schema["properties"].get(name).is_none()) {
        Some(name) => Err(Failure::invalid(format!("unknown argument `{name}`"))),
        None => Ok(()),
    }
}
