//! The tools of MCP servers: how they enter a catalog, and which of them are withheld. What a server says about a tool
//! is pinned, so that a server cannot change it after a person has seen it.

use super::contents::{Catalog, RefusedPlugin};
use super::file::FileError;
use super::generated_change::{GeneratedChange, ToolsOrigin};
use super::generation_error::GenerationError;
use super::load_error::LoadError;
use super::loader::{Loader, blocking, caught_step};
use super::plugin::Plugin;
use super::plugin_source::ServerToolFacts;
use super::wanted::Wanted;
use crate::reserved;
use crate::servers::{self, ListedServer, ListedTool, ServerAction, ServerFault, ServerGrant, ServerLink};
use crate::text::{OneLine, cut};
use portcullis_definitions::definition::{self, DefinitionError};
use portcullis_definitions::manifest::Definition;
use portcullis_definitions::tool::Tool;
use portcullis_ledger::pins::{GeneratedPins, Pin, PinSource, PinnedDefinitions, PinnedTools};
use portcullis_policy::{Binding, DependencyKey, DependencyKind, LocalName, PluginName, Policy, ServerPolicy};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::task::JoinSet;

/// The setting that tells the pins of a server from those of a plugin that generates tools.
const SERVER_SETTING: &str = "portcullis:server";

/// Maximum bytes of a version that is shown.
const VERSION_BYTES_MAX: usize = 64;

/// The tools of a server after the check.
struct CheckedServer {
    /// The accepted tools.
    tools: BTreeMap<LocalName, Arc<Tool>>,
    facts: BTreeMap<LocalName, ServerToolFacts>,
    version: Option<String>,
    /// Why other tools are withheld.
    withheld: Vec<LoadError>,
}

impl Loader {
    /// Creates the plugin of a server that the policy names. It has no tools and no grants yet.
    pub(crate) fn server(&self, name: &PluginName, policy: &Policy) -> Plugin {
        let bindings = policy.bindings(name);
        let server = DependencyKey::new(ServerPolicy::BINDING).ok().and_then(|key| bindings.get(&key));
        let kind = server.map_or(DependencyKind::Process, Binding::kind);
        let link = Arc::new(ServerLink::new(&self.server_changes, &self.logins));
        Plugin::server(name.clone(), (kind, server_sha256(name, policy)), link)
    }

    /// Adds the servers of the policy to a catalog that is not shared yet, without their tools. A file with the name of
    /// a server is refused, because the policy binds the name to the server.
    pub(super) fn add_servers(&self, catalog: &mut Catalog, policy: &Policy, wanted: &Wanted) {
        for name in policy.servers() {
            if reserved::is_reserved(name) {
                // The policy does not fit the host's own plugin, so the host does not open.
                continue;
            }
            if let Some(plugin) = catalog.plugins.remove(name) {
                let error = Arc::new(FileError::Server.into());
                catalog.refused.push(RefusedPlugin { file: plugin.file.clone(), error });
            }
            match wanted.starts(name) {
                true => drop(catalog.plugins.insert(name.clone(), Arc::new(self.server(name, policy)))),
                false => drop(catalog.left_out.insert(name.clone())),
            }
        }
    }

    /// Starts the servers of a catalog that is not shared yet, several at a time, and adds their tools. They must have
    /// their grants. A server that cannot be used is refused.
    pub(crate) async fn list_servers(self: &Arc<Self>, catalog: &mut Catalog) {
        let servers = catalog.plugins.values().filter(|plugin| plugin.is_server());
        let names: Vec<PluginName> = servers.map(|plugin| plugin.name.clone()).collect();
        let mut listing = JoinSet::new();
        for name in names {
            // The catalog is not shared yet, so this is the only `Arc` of the plugin.
            let Some(mut plugin) = catalog.plugins.remove(&name).and_then(Arc::into_inner) else { continue };
            let loader = Arc::clone(self);
            listing.spawn(async move { (loader.list_server(&mut plugin).await, plugin) });
        }
        while let Some(listed) = listing.join_next().await {
            // `list_server` returns its panics, so a task fails only with the runtime.
            let Ok((listed, plugin)) = listed else { continue };
            let refused = |error| RefusedPlugin { file: plugin.file.clone(), error };
            match listed {
                Ok(()) => {
                    catalog.refused.extend(plugin.withheld.iter().cloned().map(refused));
                    catalog.plugins.insert(plugin.name.clone(), Arc::new(plugin));
                }
                Err(error) => catalog.refused.push(refused(Arc::new(error))),
            }
        }
        catalog.refused.sort_by(|one, other| one.file.cmp(&other.file));
    }

    /// Lists the tools of a server that has its grants, and compares them with their pin. After an error, the plugin is
    /// unchanged. A panic is an error.
    pub(crate) async fn list_server(&self, plugin: &mut Plugin) -> Result<(), LoadError> {
        caught_step(|| Box::pin(self.list_and_check(plugin))).await
    }

    async fn list_and_check(&self, plugin: &mut Plugin) -> Result<(), LoadError> {
        if let Some(fault) = &plugin.grants.package_fault {
            return Err(LoadError::Server(Box::new(ServerFault::Package(fault.clone()))));
        }
        let Some((link, grant)) = plugin.server_link() else { return Ok(()) };
        let listed = link.list(grant).await.map_err(|fault| LoadError::Server(Box::new(fault)))?;
        let (identity, pins) = ((plugin.name.clone(), plugin.sha256), Arc::clone(&self.pins));
        let (policy, announced) = (grant.policy().clone(), listed.announced);
        // Compiling a thousand schemas takes long, and pins are files.
        let checked = blocking(move || Ok(checked((&identity.0, identity.1), listed, &policy, &pins)?)).await?;
        let CheckedServer { tools, facts, version, withheld } = checked;
        plugin.set_server_tools(tools, facts);
        plugin.announced = AtomicU64::new(announced);
        plugin.withheld = withheld.into_iter().map(Arc::new).collect();
        if let Some(version) = version {
            plugin.version = OneLine(cut(&version, VERSION_BYTES_MAX)).to_string();
        }
        Ok(())
    }
}

/// Returns the hash that a server has as a plugin: that of its name and of what the policy binds to it.
pub(crate) fn server_sha256(name: &PluginName, policy: &Policy) -> [u8; 32] {
    let described: Vec<String> = policy.bindings(name).values().map(|binding| binding.describe()).collect();
    let hashed = Sha256::new_with_prefix(b"server\n").chain_update(name.as_str());
    hashed.chain_update(described.join("\n")).finalize().into()
}

impl Plugin {
    /// Returns the way to a server, and what the policy grants to it. `None` if the plugin is none, or is not bound.
    pub(crate) fn server_link(&self) -> Option<(&ServerLink, ServerGrant<'_>)> {
        let link = self.server_source()?;
        Some((link, ServerGrant::of(&self.grants)?))
    }
}

/// The tools that a server lists now, each checked by itself.
#[derive(Default)]
struct ListedNow {
    tools: BTreeMap<LocalName, Arc<Tool>>,
    /// The names by which the server knows them.
    server_names: BTreeMap<LocalName, String>,
    /// What the server says about them, and the hashes of that.
    said: PinnedDefinitions,
    hashes: PinnedTools,
    refused: Vec<String>,
}

impl ListedNow {
    fn of(plugin: &PluginName, listed: Vec<ListedTool>) -> Self {
        let mut now = Self::default();
        for ListedTool { server_name, definition, said, sha256 } in listed {
            match checked_alone(plugin, &definition) {
                Ok(checked) => {
                    for (name, tool) in checked {
                        // Two names of a server can become one, such as `getUser` and `get_user`. The first one keeps
                        // it.
                        if now.tools.contains_key(&name) {
                            let other = format!("{}: another tool has the name {name}", OneLine(&server_name));
                            now.refused.push(other);
                            continue;
                        }
                        now.hashes.insert(name.to_string(), sha256.clone());
                        now.said.insert(name.to_string(), said.clone());
                        now.server_names.insert(name.clone(), server_name.clone());
                        now.tools.insert(name, tool);
                    }
                }
                Err(problems) => now.refused.extend(problems.iter().map(ToString::to_string)),
            }
        }
        now
    }

    /// Returns the texts of the pinned definitions: those of now, and those of before for tools that differ now.
    fn definitions(&self, pinned: &PinnedTools, kept: &PinnedDefinitions) -> PinnedDefinitions {
        let text = |(name, hash): (&String, &String)| {
            let is_same = self.hashes.get(name) == Some(hash);
            let text = if is_same { self.said.get(name) } else { kept.get(name) };
            Some((name.clone(), text?.clone()))
        };
        pinned.iter().filter_map(text).collect()
    }

    /// Returns the accepted tools. One that the server describes differently now stays as it was accepted, and is held.
    fn accepted(
        &self,
        plugin: &PluginName,
        (pinned, kept): (&PinnedTools, &PinnedDefinitions),
        policy: &ServerPolicy,
    ) -> (BTreeMap<LocalName, Arc<Tool>>, BTreeMap<LocalName, ServerToolFacts>) {
        let (mut tools, mut facts) = (BTreeMap::new(), BTreeMap::new());
        for (name, now) in &self.tools {
            // A new tool is withheld until a person has accepted the change.
            let Some(hash) = pinned.get(name.as_str()) else { continue };
            let (tool, held) = if self.hashes.get(name.as_str()) == Some(hash) {
                (Arc::clone(now), None)
            } else {
                // Without the accepted text, only the present one is known, which no person has accepted. The tool is
                // withheld.
                let Some(before) = kept.get(name.as_str()) else { continue };
                let Some(accepted) = accepted_tool(plugin, name, before, policy) else { continue };
                let said = self.said.get(name.as_str()).map_or("", String::as_str);
                (accepted, Some(Arc::from(servers::difference(before, said))))
            };
            let action = ServerAction::Tool(self.server_names.get(name).cloned().unwrap_or_default());
            facts.insert(name.clone(), ServerToolFacts { action, held });
            tools.insert(name.clone(), tool);
        }
        (tools, facts)
    }
}

/// Returns a tool as it was accepted.
fn accepted_tool(plugin: &PluginName, name: &LocalName, said: &str, policy: &ServerPolicy) -> Option<Arc<Tool>> {
    let before = servers::said_before(said, policy)?;
    checked_alone(plugin, &before.definition).ok()?.remove(name)
}

/// Checks one definition by itself, so that its faults do not touch other tools.
fn checked_alone(
    plugin: &PluginName,
    definition: &Definition,
) -> Result<BTreeMap<LocalName, Arc<Tool>>, Vec<DefinitionError>> {
    definition::check_generated(plugin, &BTreeMap::new(), slice::from_ref(definition))
}

/// Adds the host's own tools for what else a server offers. A tool of the server with the same name stays.
fn add_offers(
    plugin: &PluginName,
    offers: Vec<(ServerAction, Definition)>,
    (tools, facts): (&mut BTreeMap<LocalName, Arc<Tool>>, &mut BTreeMap<LocalName, ServerToolFacts>),
    now: &mut ListedNow,
) {
    for (action, definition) in offers {
        match checked_alone(plugin, &definition) {
            Ok(checked) => {
                for (name, tool) in checked {
                    if now.tools.contains_key(&name) {
                        now.refused.push(format!("{name} of the host: a tool of the server has this name"));
                        continue;
                    }
                    facts.insert(name.clone(), ServerToolFacts { action: action.clone(), held: None });
                    tools.insert(name, tool);
                }
            }
            Err(problems) => now.refused.extend(problems.iter().map(ToString::to_string)),
        }
    }
}

/// Checks the tools of a server one by one, and compares them with the accepted ones. The first tools of a server are
/// accepted, because the operator has just written the policy that names it.
fn checked(
    (plugin, sha256): (&PluginName, [u8; 32]),
    listed: ListedServer,
    policy: &ServerPolicy,
    pins: &GeneratedPins,
) -> Result<CheckedServer, GenerationError> {
    let ListedServer { version, tools: listed, offers, announced: _ } = listed;
    let mut now = ListedNow::of(plugin, listed);
    // The pin of a server does not depend on its command: what a new version says differently is to be accepted, too.
    let settings = BTreeMap::from([(SERVER_SETTING.to_owned(), String::new())]);
    let source = PinSource::new(plugin.as_str(), &settings, &[]);
    let pinned = match pins.read_or_keep_first(&source, &now.hashes).map_err(GenerationError::Pin)? {
        Pin::Tools(tools) => Some(tools),
        // Without a valid pin, all tools of the server are withheld until a person accepts them.
        Pin::Absent | Pin::Damaged => None,
    };
    let (mut tools, mut facts) = match &pinned {
        Some(pinned) => {
            let kept = pins.definitions(&source, pinned).map_err(GenerationError::Pin)?;
            let next = now.definitions(pinned, &kept);
            // Keep the texts now. After a change, the server no longer sends them, and the pin has only hashes.
            if next != kept {
                pins.keep_definitions(&source, &next).map_err(GenerationError::Pin)?;
            }
            now.accepted(plugin, (pinned, &kept), policy)
        }
        None => Default::default(),
    };
    add_offers(plugin, offers, (&mut tools, &mut facts), &mut now);
    let mut withheld = Vec::new();
    let listed_now = (&now.tools, now.hashes);
    if let Some(change) =
        GeneratedChange::between((plugin, sha256), ToolsOrigin::Listed, source, pinned.as_ref(), listed_now)
    {
        withheld.push(GenerationError::Changed(Box::new(change)).into());
    }
    if !now.refused.is_empty() {
        withheld.push(GenerationError::Unusable(now.refused).into());
    }
    Ok(CheckedServer { tools, facts, version, withheld })
}
