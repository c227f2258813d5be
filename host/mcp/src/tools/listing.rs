//! The tools of one catalog as clients see them: made once for a catalog, and kept until it changes.

use super::short::{CALL, ShortTool, short_list};
use crate::annotations;
use crate::error::ServerError;
use crate::options::{DeniedTools, ListTools};
use portcullis::plugins::{Catalog, Offer, Plugin, ToolNames};
use portcullis::policy::PluginName;
use portcullis::{Host, Reach};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// The tools of one catalog, in the order of their full names.
pub(crate) struct Listing {
    catalog: Arc<Catalog>,
    pub(super) tools: Vec<Listed>,
    /// By the name that clients know, and by the full one.
    index: HashMap<String, usize>,
    /// The two tools that stand for the others, where those are not listed.
    pub(super) short: Option<[Tool; 2]>,
}

/// A tool as clients see it.
pub(crate) struct Listed {
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) tool: Arc<portcullis::plugins::Tool>,
    /// Its definition.
    pub(crate) definition: Tool,
    /// Whether clients are shown it. One that can never run under the policy is known by its name alone.
    pub(super) shown: bool,
    /// Its definition for clients of the handshake era, where it differs: they know only outputs that are objects.
    legacy: Option<Tool>,
}

impl Listed {
    /// The definition for a client of this era.
    pub(crate) fn definition(&self, legacy: bool) -> &Tool {
        match &self.legacy {
            Some(definition) if legacy => definition,
            Some(_) | None => &self.definition,
        }
    }
}

impl Listing {
    /// The tool of a name.
    pub(crate) fn find(&self, name: &str) -> Option<&Listed> {
        self.index.get(name).and_then(|at| self.tools.get(*at))
    }

    /// Returns the plugins with a tool that clients are shown, without those of the host, and how many each has.
    pub(crate) fn shown_plugins(&self) -> BTreeMap<&PluginName, usize> {
        let mut plugins = BTreeMap::new();
        for listed in self.tools.iter().filter(|listed| listed.shown && !listed.plugin.is_standard()) {
            *plugins.entry(listed.plugin.name()).or_default() += 1;
        }
        plugins
    }

    /// Returns the tools that fit a need, the best first. The host's own tools are listed anyway and left out. So are
    /// tools that are not shown.
    pub(super) fn search(&self, query: &str, limit: usize) -> Vec<&Listed> {
        let is_found = |listed: &&Listed| listed.shown && !listed.plugin.is_standard();
        let left_out = self.tools.iter().filter(|listed| !is_found(listed)).count();
        let found = self.catalog.pick(query, limit + left_out);
        let found = found.iter().filter_map(|offer| self.find(&offer.tool.name().to_string()));
        found.filter(is_found).take(limit).collect()
    }

    /// The definition that a name stands for.
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
                // A short name, which the server takes for itself: the full one is free.
                name = ToolNames::Full.assign_leniently(std::slice::from_ref(&offer)).pop().unwrap_or(name);
            }
            // A full name holds a dot, and the names that clients know hold none: they cannot meet.
            index.insert(offer.tool.name().to_string(), tools.len());
            index.insert(name.clone(), tools.len());
            tools.push(listed(host, offer, name, how.denied));
        }
        Self { catalog, tools, index, short }
    }
}

/// The definition of one of the two tools that stand for the others. What they call may do anything.
fn defined(tool: ShortTool) -> Tool {
    let calls = tool.name == CALL;
    let reach = Reach { writes: calls, leaves: calls };
    Tool::new(tool.name, tool.description, object(&tool.schema)).with_annotations(annotations::of(reach))
}

/// Whether clients are shown a tool.
fn is_shown(host: &Host, plugin: &Plugin, tool: &portcullis::plugins::Tool, denied: DeniedTools) -> bool {
    denied == DeniedTools::List || host.may_run(plugin, tool)
}

fn listed(host: &Host, Offer { plugin, tool }: Offer, name: String, denied: DeniedTools) -> Listed {
    let shown = is_shown(host, &plugin, &tool, denied);
    let mut definition = Tool::new(name, tool.description().to_owned(), object(tool.schema().document()))
        .with_annotations(annotations::of(host.reach(&plugin, &tool)));
    if let Some(title) = tool.title() {
        definition = definition.with_title(title);
    }
    let legacy = tool.output_schema().map(|_| definition.clone());
    let schema = tool.output_schema().map(portcullis::plugins::Schema::document);
    if let Some(schema) = schema {
        definition = definition.with_raw_output_schema(object(schema));
    }
    let is_object = schema.is_some_and(|schema| schema.get("type").and_then(Value::as_str) == Some("object"));
    Listed { plugin, tool, definition, shown, legacy: legacy.filter(|_| !is_object) }
}

/// A schema that is an object; a boolean one as the object that says the same.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(match schema {
        Value::Object(schema) => schema.clone(),
        Value::Bool(false) => JsonObject::from_iter([("not".to_owned(), Value::Object(JsonObject::new()))]),
        Value::Bool(true) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => JsonObject::new(),
    })
}

/// Which tools are listed, as the operator says.
#[derive(Clone, Copy)]
pub(crate) struct ListingOptions {
    pub(crate) list: ListTools,
    pub(crate) denied: DeniedTools,
}

/// The listing of the catalog as it is, made anew when the catalog has changed.
pub(crate) struct Listings {
    names: ToolNames,
    how: ListingOptions,
    current: RwLock<Arc<Listing>>,
}

impl Listings {
    /// Lists the tools of a host.
    ///
    /// # Errors
    /// Two tools would have one name.
    pub(crate) fn new(host: &Host, names: ToolNames, how: ListingOptions) -> Result<Self, ServerError> {
        let catalog = host.catalog();
        let offers: Vec<Offer> = catalog.offers().collect();
        let assigned = match names {
            ToolNames::Full => names.assign_leniently(&offers),
            ToolNames::Short => names.assign(&offers)?,
        };
        let listing = Listing::new(host, catalog, assigned, how);
        Ok(Self { names, how, current: RwLock::new(Arc::new(listing)) })
    }

    /// The tools as they are now. A name that has come to be shared is given to neither tool.
    pub(crate) fn current(&self, host: &Host) -> Arc<Listing> {
        let catalog = host.catalog();
        let known = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        if Arc::ptr_eq(&known.catalog, &catalog) {
            return known;
        }
        let assigned = self.names.assign_leniently(&catalog.offers().collect::<Vec<Offer>>());
        let listing = Arc::new(Listing::new(host, catalog, assigned, self.how));
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&listing);
        listing
    }
}
