//! One real call through what `init` wrote: the policy is found by the directory, and the plugins are those that agents
//! get.

use super::places::InitPlaces;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::opening;
use portcullis::policy::Decision;
use portcullis::text::WithCauses;
use portcullis::{Output, Request};

/// The session of the call.
const SESSION: &str = "init";

/// The tool that is called if the policy allows it.
const LIST: &str = "files.list";

/// The end of the call.
pub(super) struct TrialCall {
    /// The command that makes the same call again.
    pub(super) command: String,
    pub(super) exit: Exit,
    /// What the tool answered, or why it did not.
    pub(super) text: String,
}

/// Makes the call. It also compiles the plugins, so that the first start of an agent is fast.
///
/// # Errors
/// The host cannot open.
pub(super) async fn run(places: &InitPlaces, context: &Context) -> anyhow::Result<TrialCall> {
    let environment = context.environment.for_project(&places.project);
    let context = Context { environment, terminal: context.terminal, json: context.json };
    let host = opening::open(&context).await?;
    let (tool, arguments) = match decision(&host) {
        Some(Decision::Allow) => (LIST, r#"{"path":"."}"#),
        // An approver would have to be asked, so only what would happen is asked for.
        Some(Decision::Ask | Decision::Deny) | None => {
            ("tools.explain", r#"{"tool":"files.list","arguments":{"path":"."}}"#)
        }
    };
    let reply = host.call(Request::new(tool, arguments.as_bytes().to_vec()).session(SESSION)).await;
    let text = match &reply.output {
        Some(Output::Text(text)) => text.clone(),
        Some(Output::Json(json)) => json.clone(),
        Some(Output::Parts(_)) => String::new(),
        None => reply.message.clone(),
    };
    // The reply is for models, and does not say why the host refused the plugin.
    let refused = host.catalog().refusal("files").map(|refused| WithCauses(&*refused.error).to_string());
    let text = refused.map_or(text, |why| format!("the plugin files was refused: {why}"));
    Ok(TrialCall { command: format!("portcullis call {tool} '{arguments}'"), exit: Exit::after(&reply), text })
}

fn decision(host: &portcullis::Host) -> Option<Decision> {
    let catalog = host.catalog();
    let plugin = catalog.plugin("files")?;
    let tool = plugin.tools().find(|tool| tool.name().to_string() == LIST)?;
    Some(portcullis::ToolOutlook::of(host, plugin, tool).decision)
}
