//! The tools of one catalog as clients see them. The listing is built when it is first needed, and cached until the
//! catalog changes.

use super::short::{CALL, ShortTool, short_list};
use crate::annotations;
use crate::error::ServerError;
use crate::options::{DeniedTools, ListTools};
use portcullis::plugins::{Catalog, Offer, Plugin, ToolNames};
use portcullis::policy::PluginName;
use portcullis::policy::recovery::RecoverRwLock;
use portcullis::{Host, OfferedTools, Reach};
use rmcp::model::{JsonObject, MetaObject, Tool};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};

/// The key of the metadata that marks a native tool.
const NATIVE_KEY: &str = "portcullis/native";

/// The tools of one catalog, in the order of their full names.
pub(crate) struct ToolListing {
    catalog: Arc<Catalog>,
    pub(super) tools: Vec<ListedTool>,
    /// The tools by their listed names and by their full names.
    index: HashMap<String, usize>,
    /// The two tools that find and call the others, if those are not listed.
    pub(super) short: Option<[Tool; 2]>,
}

/// A tool as clients see it.
pub(crate) struct ListedTool {
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) tool: Arc<portcullis::plugins::Tool>,
    /// The tool's definition.
    pub(crate) definition: Tool,
    /// Whether the tool is listed. A tool that can never run under the policy can only be called by name.
    pub(super) shown: bool,
    /// The definition for clients of the handshake era, if it differs. They support only output schemas of objects.
    legacy: Option<Tool>,
}

impl ListedTool {
    /// Returns whether a client is offered the tool.
    fn is_offered(&self, offered: &OfferedTools) -> bool {
        offered.contains(&self.plugin, &self.tool)
    }

    /// Returns the tool with its plugin.
    pub(super) fn offer(&self) -> Offer {
        Offer { plugin: Arc::clone(&self.plugin), tool: Arc::clone(&self.tool) }
    }

    /// Returns whether a client is shown the tool.
    pub(super) fn is_shown_in(&self, offered: &OfferedTools) -> bool {
        self.shown && self.is_offered(offered)
    }

    /// Returns the definition for a client of this era, which may be offered a narrower one.
    pub(super) fn definition_in(&self, offered: &OfferedTools, legacy: bool) -> Tool {
        let mut definition = match &self.legacy {
            Some(definition) if legacy => definition.clone(),
            Some(_) | None => self.definition.clone(),
        };
        if let Some(narrowed) = offered.narrowed(&self.tool) {
            definition.description = Some(narrowed.description().to_owned().into());
            definition.input_schema = object(narrowed.schema().document());
        }
        definition
    }
}

impl ToolListing {
    /// Returns the two tools of the short list for a client, if there is one. Its index has only offered tools.
    pub(super) fn short_for(&self, offered: &OfferedTools) -> Option<[Tool; 2]> {
        let short = self.short.as_ref()?;
        if offered.is_everything() {
            return Some(short.clone());
        }
        let is_shown = |plugin: &Plugin, tool: &portcullis::plugins::Tool| {
            offered.contains(plugin, tool) && self.find(&tool.name().to_string()).is_some_and(|listed| listed.shown)
        };
        Some(short_list(&self.catalog, is_shown).map(defined))
    }

    /// Finds a tool by its listed name or its full name.
    pub(crate) fn find(&self, name: &str) -> Option<&ListedTool> {
        self.index.get(name).and_then(|at| self.tools.get(*at))
    }

    /// Returns the plugins that have listed tools, with the number of those tools. The host's own plugins are left out.
    pub(crate) fn shown_plugins(&self, offered: &OfferedTools) -> BTreeMap<&PluginName, usize> {
        let mut plugins = BTreeMap::new();
        for listed in self.tools.iter().filter(|listed| listed.is_shown_in(offered) && !listed.plugin.is_standard()) {
            *plugins.entry(listed.plugin.name()).or_default() += 1;
        }
        plugins
    }

    /// Returns the tools that match a query, the best first. Leaves out tools that are not shown, and the host's own
    /// tools, which are always listed.
    pub(super) fn search(&self, query: &str, limit: usize, offered: &OfferedTools) -> Vec<&ListedTool> {
        let is_found = |listed: &&ListedTool| listed.is_shown_in(offered) && !listed.plugin.is_standard();
        let left_out = self.tools.iter().filter(|listed| !is_found(listed)).count();
        // The index has all tools. More results are asked for, because those that are left out may rank first.
        let found = self.catalog.pick(query, limit + left_out);
        let found = found.iter().filter_map(|offer| self.find(&offer.tool.name().to_string()));
        found.filter(is_found).take(limit).collect()
    }

    /// Returns the definition of the tool with this name.
    pub(crate) fn definition(&self, name: &str) -> Option<&Tool> {
        let short = self.short.iter().flatten().find(|tool| tool.name == name);
        short.or_else(|| self.find(name).map(|listed| &listed.definition))
    }

    fn new(host: &Host, catalog: Arc<Catalog>, names: Vec<String>, how: ListingOptions) -> Self {
        let mut tools = Vec::with_capacity(names.len());
        let mut index = HashMap::new();
        let short = match how.list {
            ListTools::All => None,
            ListTools::Search => {
                Some(short_list(&catalog, |plugin, tool| is_shown(host, plugin, tool, how.denied)).map(defined))
            }
        };
        for (offer, mut name) in catalog.offers().zip(names) {
            if short.iter().flatten().any(|tool| tool.name == name) {
                // The server uses this short name itself, so the tool gets its full name.
                name = ToolNames::Full.assign_leniently(std::slice::from_ref(&offer)).pop().unwrap_or(name);
            }
            // A full name contains a dot and a listed name does not, so they cannot collide.
            index.insert(offer.tool.name().to_string(), tools.len());
            index.insert(name.clone(), tools.len());
            tools.push(listed(host, offer, name, how.denied));
        }
        Self { catalog, tools, index, short }
    }
}

/// Returns the definition of one of the two tools that find and call the others. A called tool may do anything.
fn defined(tool: ShortTool) -> Tool {
    let calls = tool.name == CALL;
    let reach = Reach { writes: calls, leaves: calls };
    Tool::new(tool.name, tool.description, object(&tool.schema)).with_annotations(annotations::of(reach))
}

/// Returns whether clients are shown a tool.
fn is_shown(host: &Host, plugin: &Plugin, tool: &portcullis::plugins::Tool, denied: DeniedTools) -> bool {
    denied == DeniedTools::List || host.may_run(plugin, tool)
}

fn listed(host: &Host, Offer { plugin, tool }: Offer, name: String, denied: DeniedTools) -> ListedTool {
    let shown = is_shown(host, &plugin, &tool, denied);
    let mut definition = Tool::new(name, tool.description().to_owned(), object(tool.schema().document()))
        .with_annotations(annotations::of(host.reach(&plugin, &tool)));
    if let Some(title) = tool.title() {
        definition = definition.with_title(title);
    }
    if plugin.is_native() {
        definition = definition.with_meta(native_meta());
    }
    let legacy = tool.output_schema().map(|_| definition.clone());
    let schema = tool.output_schema().map(portcullis::plugins::Schema::document);
    if let Some(schema) = schema {
        definition = definition.with_raw_output_schema(object(schema));
    }
    let is_object = schema.is_some_and(|schema| schema.get("type").and_then(Value::as_str) == Some("object"));
    ListedTool { plugin, tool, definition, shown, legacy: legacy.filter(|_| !is_object) }
}

/// Returns the metadata of a native tool, which runs in the server's process without a sandbox.
fn native_meta() -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert(NATIVE_KEY.to_owned(), Value::Bool(true));
    meta
}

/// Returns a schema as an object. Converts a boolean schema to the equivalent object.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(match schema {
        Value::Object(schema) => schema.clone(),
        Value::Bool(false) => JsonObject::from_iter([("not".to_owned(), Value::Object(JsonObject::new()))]),
        Value::Bool(true) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => JsonObject::new(),
    })
}

/// The operator's options for which tools are listed.
#[derive(Clone, Copy)]
pub(crate) struct ListingOptions {
    pub(crate) list: ListTools,
    pub(crate) denied: DeniedTools,
}

/// A cache for the listing of the current catalog. It is rebuilt when the catalog has changed.
pub(crate) struct Listings {
    names: ToolNames,
    how: ListingOptions,
    /// `None` until it is needed. The answer to `initialize` does not wait for the definitions of a thousand tools.
    current: RwLock<Option<Arc<ToolListing>>>,
}

impl Listings {
    /// Prepares to list the tools of a host.
    ///
    /// # Errors
    /// Two tools would have the same name.
    pub(crate) fn new(host: &Host, names: ToolNames, how: ListingOptions) -> Result<Self, ServerError> {
        match names {
            // Tools that would share a full name get digests in their names.
            ToolNames::Full => {}
            ToolNames::Short => drop(names.assign(&host.catalog().offers().collect::<Vec<Offer>>())?),
        }
        Ok(Self { names, how, current: RwLock::default() })
    }

    /// Returns the current tools. If two tools now have the same short name, neither gets it.
    pub(crate) fn current(&self, host: &Host) -> Arc<ToolListing> {
        let catalog = host.catalog();
        let known = self.current.read_recovered().clone();
        if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.catalog, &catalog)) {
            return known;
        }
        // Built without the lock. If it replaces the listing of a newer catalog, the next request builds that one
        // again.
        let assigned = self.names.assign_leniently(&catalog.offers().collect::<Vec<Offer>>());
        let listing = Arc::new(ToolListing::new(host, catalog, assigned, self.how));
        *self.current.write_recovered() = Some(Arc::clone(&listing));
        listing
    }
}
