//! Runs a plugin's `prepare`: with its settings, without handles, and within limits. The answer can only take away, and
//! is checked like any definition.

use super::describing::{self, context, why};
use super::loader::{Loader, blocking};
use super::plugin::Plugin;
use super::prepared::{PreparedTools, ReducedTool};
use crate::text::{OneLine, WithCauses, cut};
use portcullis_definitions::definition;
use portcullis_definitions::manifest::{Availability, Narrowing, Preparation, ToolCaller};
use portcullis_definitions::tool::Tool;
use portcullis_policy::{Audience, Limits, LocalName};
use portcullis_sandbox::{Cancellation, RunSetup};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum size of one answer, in bytes: a few narrowed schemas, or a reason for each of hundreds of tools.
const PREPARE_TRANSFER_BYTES_MAX: usize = 64 * 1024;

/// Maximum length of each of the caller's texts that a plugin gets, in bytes. A client chooses its own name.
const CALLER_TEXT_BYTES_MAX: usize = 256;

/// Maximum length of a reason for the operator, in bytes: about two lines.
const REASON_BYTES_MAX: usize = 256;

impl Loader {
    /// Returns what a plugin that prepares its tools offers to a caller. Asks the plugin if the answer is not known.
    pub(crate) async fn prepared(&self, plugin: &Plugin, audience: &Audience<'_>) -> Arc<PreparedTools> {
        let caller = caller(audience);
        if let Some(known) = plugin.prepared.get(&caller) {
            return known;
        }
        let tools = Arc::new(self.prepare(plugin, &caller).await);
        plugin.prepared.keep(caller, Arc::clone(&tools));
        tools
    }

    async fn prepare(&self, plugin: &Plugin, caller: &ToolCaller) -> PreparedTools {
        let failed = |why: String| PreparedTools::Failed(format!("it could not say what it offers: {why}"));
        let code = match self.code(plugin).await {
            Ok(code) => code,
            Err(error) => return failed(OneLine(&WithCauses(&error).to_string()).to_string()),
        };
        let (limits, cancellation) = (limits(), Cancellation::new());
        let setup = RunSetup {
            code,
            limits: &limits,
            handles: describing::without_handles(plugin),
            context: context(),
            cancellation,
        };
        let slot = self.slots.descriptions.acquire().await;
        let ran = self.engine.prepare(caller, setup).await;
        drop(slot);
        let prepared = match ran.result {
            Ok(prepared) => prepared,
            Err(stop) => return failed(why(&stop, &ran.log.bytes)),
        };
        let (tools, own) = (plugin.tools.clone(), plugin.own_tools.clone());
        // A schema is compiled, which takes too long for an async worker.
        let reduced = blocking(move || Ok(reduced(&tools, &own, prepared))).await;
        match reduced {
            Ok(Ok(tools)) => PreparedTools::Reduced(tools),
            Ok(Err(why)) => failed(why),
            Err(error) => failed(OneLine(&WithCauses(&error).to_string()).to_string()),
        }
    }
}

/// Checks an answer. Returns the tools that are not offered whole, or why the answer is invalid. `own` is the
/// tools with the plugin's own descriptions: it cannot replace one of the operator's.
fn reduced(
    tools: &BTreeMap<LocalName, Arc<Tool>>,
    own: &BTreeMap<LocalName, Arc<Tool>>,
    prepared: Vec<Preparation>,
) -> Result<BTreeMap<LocalName, ReducedTool>, String> {
    let mut reduced = BTreeMap::new();
    for Preparation { tool: name, availability } in prepared {
        let quoted = || OneLine(cut(&name, REASON_BYTES_MAX)).to_string();
        let found = LocalName::new(&name).ok().and_then(|name| tools.get_key_value(&name));
        // Without this error, a tool whose name is misspelled would be offered whole.
        let Some((name, tool)) = found else { return Err(format!("it has no tool {}", quoted())) };
        let tool = match availability {
            Availability::Hidden(why) => ReducedTool::Hidden(cut(&why, REASON_BYTES_MAX).to_owned()),
            Availability::Narrowed(narrowing) => {
                let is_own = own.get(name).is_some_and(|own| own.sha256() == tool.sha256());
                let description = narrowing.description.filter(|_| is_own);
                let narrowed = definition::narrow(tool, &Narrowing { description, ..narrowing });
                ReducedTool::Narrowed(Arc::new(narrowed.map_err(|error| error.to_string())?))
            }
        };
        // Two answers about one tool leave open which of them counts.
        if reduced.insert(name.clone(), tool).is_some() {
            return Err(format!("it named the tool {name} twice"));
        }
    }
    Ok(reduced)
}

fn caller(audience: &Audience<'_>) -> ToolCaller {
    let text = |text: &str| cut(text, CALLER_TEXT_BYTES_MAX).to_owned();
    ToolCaller {
        session: text(audience.session),
        principal: audience.principal.to_string(),
        client: audience.client.map(text),
        model: audience.model.map(text),
        automated: audience.automated,
    }
}

/// Returns the limits of a preparation: those of a description, with a smaller answer.
fn limits() -> Limits {
    Limits { transfer_bytes: PREPARE_TRANSFER_BYTES_MAX, ..describing::limits() }
}
