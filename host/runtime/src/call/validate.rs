//! Step 2: finds the tool, and checks the arguments against its schema.

use super::parse::{ParsedCall, TOOL_BYTES_MAX};
use super::rejection::Rejection;
use crate::catalog::{Catalog, Plugin, Tool, ToolNames};
use crate::inner::HostState;
use crate::offered::OfferedTools;
use crate::reply::Code;
use crate::request::Request;
use crate::reserved;
use crate::text::{OneLine, WithCauses, cut};
use crate::valid_call::ValidCall;
use portcullis_definitions::schema::Mismatch;
use portcullis_policy::{Leniency, LocalName, PluginName, Policy, ToolName};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;

/// Proposed wait before a retry while a plugin is compiled. That takes seconds to a minute, and a refused call is
/// cheap.
const LOADING_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Maximum tools that are named to a model that called an unknown tool.
const SUGGESTIONS_MAX: usize = 5;

impl ParsedCall {
    pub(super) async fn validate(self, host: &HostState, request: &Request) -> Result<Arc<ValidCall>, Rejection> {
        // What few calls need is boxed, because the future of every call would have its size.
        let catalog = host.catalog();
        let name: Option<ToolName> = (self.tool.len() <= TOOL_BYTES_MAX).then(|| name(&self.tool)).flatten();
        let Some((plugin, tool)) = name.as_ref().and_then(|name| catalog.find(name)) else {
            let offered = Box::pin(OfferedTools::to_caller(&catalog, &host.loader, &request.origin)).await;
            return Err(not_found(&self.tool, host, &catalog, &offered));
        };
        let audience = request.origin.audience();
        let Some(definition) = OfferedTools::definition(&catalog, &host.loader, (plugin, tool), &audience).await else {
            let offered = Box::pin(OfferedTools::to_caller(&catalog, &host.loader, &request.origin)).await;
            return Err(no_such_tool(&self.tool, &catalog, &offered));
        };
        check_batch(request, tool)?;
        if request.definition.is_some_and(|offered| offered != definition.sha256()) {
            return Err(changed(tool));
        }
        if !is_callable(&catalog.policy.policy, tool) {
            return Err(without_schema(tool));
        }
        if !tool.schema().is_compiled() {
            Box::pin(compiled(tool)).await;
        }
        let arguments = Value::Object(self.arguments);
        let mut mismatches = definition.schema().mismatches(&arguments);
        if !Arc::ptr_eq(&definition, tool) && mismatches.is_empty() {
            // The plugin's answer can take away, but not add.
            mismatches = tool.schema().mismatches(&arguments);
        }
        if !mismatches.is_empty() {
            return Err(invalid(&definition, &mismatches));
        }
        let Value::Object(arguments) = arguments else {
            return Err(Rejection::new(Code::InvalidArguments, "The arguments are not a JSON object."));
        };
        let (policy, plugin, tool) = (Arc::clone(&catalog.policy), Arc::clone(plugin), Arc::clone(tool));
        Ok(Arc::new(ValidCall { policy, plugin, tool, arguments, canonical: self.canonical }))
    }
}

/// Compiles the schemas of a tool on a thread that may block. One with many patterns takes some tenths of a second.
async fn compiled(tool: &Arc<Tool>) {
    let tool = Arc::clone(tool);
    // If this panics, the schemas are compiled where they are used.
    let _ = spawn_blocking(move || tool.compile_schemas()).await;
}

/// Returns whether a tool can be called at all. A tool without a schema cannot, unless the policy allows it for the
/// plugin.
pub(crate) fn is_callable(policy: &Policy, tool: &Tool) -> bool {
    !tool.schema().is_absent() || policy.unvalidated(&tool.name().plugin) == Leniency::Ask
}

/// Refuses a batch that another batch or a tool calls. So a batch has a bounded number of calls, and the calls of a
/// tool count for that tool.
fn check_batch(request: &Request, tool: &Tool) -> Result<(), Rejection> {
    let message = match (reserved::batches(tool.name()), &request.in_batch, &request.parent) {
        (true, Some(_), _) => "Not called: a batch cannot contain another batch. Add its calls to the outer one.",
        (true, None, Some(_)) => "Not called: a tool cannot call this tool. It can make several calls itself.",
        (true, None, None) | (false, ..) => return Ok(()),
    };
    Err(Rejection::new(Code::CallerRefused, message))
}

/// Parses the name of a tool. A name without a dot is the tool that has the same name as its plugin.
fn name(tool: &str) -> Option<ToolName> {
    tool.parse().ok().or_else(|| Some(ToolName::new(PluginName::new(tool).ok()?, LocalName::new(tool).ok()?)))
}

/// The full names of the tools of a catalog by their portable names, which every provider accepts and models know. They
/// are computed when the first one is looked up.
pub(super) struct PortableNames<'a> {
    catalog: &'a Catalog,
    full: OnceCell<HashMap<String, String>>,
}

impl<'a> PortableNames<'a> {
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        Self { catalog, full: OnceCell::new() }
    }

    /// Returns the full name of the tool that a model calls by this name.
    pub(super) fn find(&self, text: &str) -> Option<&str> {
        if text.contains('.') {
            return None;
        }
        let full = self.full.get_or_init(|| {
            let offers: Vec<_> = self.catalog.offers().collect();
            let names = ToolNames::Full.assign_leniently(&offers);
            names.into_iter().zip(offers).map(|(name, offer)| (name, offer.tool.name().to_string())).collect()
        });
        full.get(text).map(String::as_str)
    }
}

fn not_found(tool: &str, host: &HostState, catalog: &Catalog, offered: &OfferedTools) -> Rejection {
    let plugin = tool.split('.').next().unwrap_or_default();
    match host.is_loading(plugin, catalog) {
        true => loading(plugin),
        false => unknown(tool, plugin, catalog, offered),
    }
}

fn loading(plugin: &str) -> Rejection {
    let seconds = LOADING_RETRY_AFTER.as_secs();
    let message =
        format!("The plugin {plugin} is still being compiled. Make the same call again in {seconds} seconds.");
    Rejection { retry_after: Some(LOADING_RETRY_AFTER), ..Rejection::new(Code::PluginLoading, message) }
}

fn unknown(tool: &str, plugin: &str, catalog: &Catalog, offered: &OfferedTools) -> Rejection {
    if let Some(refused) = catalog.refusal(plugin) {
        // A changed file was refused, and the plugin that it should replace keeps serving.
        if catalog.plugin(plugin).is_some() {
            let is_withheld = refused.error.generated_change().is_some_and(|change| change.names(tool));
            return if is_withheld { withheld(tool, plugin) } else { no_such_tool(tool, catalog, offered) };
        }
        let message = format!("The plugin {plugin} is installed but was refused, so none of its tools can be called.");
        return Rejection::new(Code::PluginRefused, message).with_detail(WithCauses(&*refused.error).to_string());
    }
    if catalog.left_out.iter().any(|left_out| left_out.as_str() == plugin) {
        let message = format!("The plugin {plugin} is installed, but this host was opened without it.");
        return Rejection::new(Code::UnknownTool, message);
    }
    no_such_tool(tool, catalog, offered)
}

/// Returns the rejection of a call of a tool that waits to be accepted.
fn withheld(tool: &str, plugin: &str) -> Rejection {
    let message = format!(
        "The definition of {} was not accepted, so it cannot be called. Tell the user to run `portcullis accept \
         {plugin}`.",
        OneLine(tool)
    );
    Rejection::new(Code::PluginRefused, message)
}

/// Returns the rejection of a call of an unknown tool. A tool that the caller is not offered gets the same.
fn no_such_tool(tool: &str, catalog: &Catalog, offered: &OfferedTools) -> Rejection {
    let plugin = tool.split('.').next().unwrap_or_default();
    let mut message = format!("There is no tool {}.", OneLine(cut(tool, TOOL_BYTES_MAX)));
    let close = |(_, known): &(&Plugin, &Tool)| {
        let name = known.name();
        name.plugin.as_str() == plugin || tool.ends_with(name.tool.as_str())
    };
    let mut near: Vec<_> = offered.tools(catalog).filter(close).take(SUGGESTIONS_MAX).collect();
    if near.is_empty() {
        near = offered.tools(catalog).take(SUGGESTIONS_MAX).collect();
    }
    if !near.is_empty() {
        let names: Vec<String> = near.iter().map(|(_, tool)| tool.name().to_string()).collect();
        let _ = write!(message, " Available tools include: {}.", names.join(", "));
    }
    Rejection::new(Code::UnknownTool, message)
}

fn changed(tool: &Tool) -> Rejection {
    let message =
        format!("The definition of {} has changed. Read its current definition, then call it again.", tool.name());
    Rejection::new(Code::DefinitionChanged, message)
}

fn without_schema(tool: &Tool) -> Rejection {
    let name = tool.name();
    let message = format!("Not run: {name} has no schema, so its arguments cannot be checked. Do not retry it.");
    let detail = format!("to have an approver decide each call, set `[plugin.{}] unvalidated = \"ask\"`", name.plugin);
    Rejection::new(Code::NoSchema, message).with_detail(detail)
}

fn invalid(tool: &Tool, mismatches: &[Mismatch]) -> Rejection {
    let mut message = format!("The arguments do not match the schema of {}:", tool.name());
    for mismatch in mismatches {
        let place = match mismatch.pointer.as_str() {
            "" => "the arguments",
            pointer => pointer,
        };
        let _ = write!(message, "\n- {}: {}", OneLine(place), OneLine(&mismatch.message));
    }
    let known = tool.schema().document().get("properties").and_then(Value::as_object);
    if let Some(known) = known.filter(|known| !known.is_empty()) {
        let names: Vec<&str> = known.keys().map(String::as_str).take(32).collect();
        let _ = write!(message, "\nIt takes: {}.", names.join(", "));
    }
    message.push_str(" Correct the arguments and call again.");
    Rejection::new(Code::InvalidArguments, message)
}
