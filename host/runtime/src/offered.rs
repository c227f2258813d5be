//! The tools that a caller is offered: under the toolsets and offers of a policy, and by the plugins that prepare their
//! tools.
//!
//! The host's own tools are always offered: they reach only what the caller's own calls left behind.

use crate::catalog::{Catalog, Loader, Offer, Plugin, PreparedTools, Tool};
use crate::origin::RequestOrigin;
use portcullis_policy::{Audience, PluginName, Policy, ToolSelection, UnknownToolset};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tools that a caller is offered. To the caller, other tools do not exist.
#[derive(Clone, Debug)]
pub struct OfferedTools {
    /// `None` offers only the host's own tools.
    selection: Option<ToolSelection>,
    /// What the plugins that prepare their tools offer to the caller. `None` for the operator, who sees all.
    prepared: Option<BTreeMap<PluginName, Arc<PreparedTools>>>,
}

impl OfferedTools {
    /// Offers every tool.
    #[must_use]
    pub fn everything() -> Self {
        Self { selection: Some(ToolSelection::everything()), prepared: None }
    }

    /// Offers only the host's own tools.
    #[must_use]
    pub fn none() -> Self {
        Self { selection: None, prepared: None }
    }

    /// Offers a toolset whole.
    pub(crate) fn of_toolset(policy: &Policy, toolset: &str) -> Result<Self, UnknownToolset> {
        policy.toolset(toolset).map(|selection| Self { selection: Some(selection), prepared: None })
    }

    /// Returns what a policy offers to an audience. No plugin is asked.
    fn by_policy(policy: &Policy, audience: &Audience<'_>) -> Result<Self, UnknownToolset> {
        policy.offered(audience).map(|selection| Self { selection: Some(selection), prepared: None })
    }

    /// Returns what a policy and the plugins of its catalog offer to an audience. Asks the plugins that prepare their
    /// tools, if their answers are not known.
    pub(crate) async fn of(
        catalog: &Catalog,
        loader: &Loader,
        audience: &Audience<'_>,
    ) -> Result<Self, UnknownToolset> {
        let selected = Self::by_policy(&catalog.policy.policy, audience)?;
        Ok(selected.prepared_for(catalog, loader, audience).await)
    }

    /// Returns these tools as the plugins of a catalog offer them to an audience.
    pub(crate) async fn prepared_for(self, catalog: &Catalog, loader: &Loader, audience: &Audience<'_>) -> Self {
        let mut prepared = BTreeMap::new();
        for plugin in catalog.plugins().filter(|plugin| plugin.prepares) {
            prepared.insert(plugin.name.clone(), loader.prepared(plugin, audience).await);
        }
        Self { prepared: Some(prepared), ..self }
    }

    /// Returns the definition of one tool as an audience is offered it, or `None` if it is not offered. Asks no other
    /// plugin.
    pub(crate) async fn definition(
        catalog: &Catalog,
        loader: &Loader,
        (plugin, tool): (&Plugin, &Arc<Tool>),
        audience: &Audience<'_>,
    ) -> Option<Arc<Tool>> {
        // A chosen toolset that no longer exists offers only the host's own tools.
        let selected = Self::by_policy(&catalog.policy.policy, audience).unwrap_or_else(|_| Self::none());
        if !selected.contains(plugin, tool) {
            return None;
        }
        if !plugin.prepares {
            return Some(Arc::clone(tool));
        }
        // Boxed, because the future of every call would have its size, and few plugins prepare their tools.
        let prepared = Box::pin(loader.prepared(plugin, audience)).await;
        let name = &tool.name().tool;
        prepared.hidden(name).is_none().then(|| Arc::clone(prepared.narrowed(name).unwrap_or(tool)))
    }

    /// Returns what the caller of a request is offered. If its toolset no longer exists, that is nothing.
    pub(crate) async fn to_caller(catalog: &Catalog, loader: &Loader, origin: &RequestOrigin) -> Self {
        Self::of(catalog, loader, &origin.audience()).await.unwrap_or_else(|_| Self::none())
    }

    /// Returns whether a tool is offered.
    pub fn contains(&self, plugin: &Plugin, tool: &Tool) -> bool {
        let is_selected = |selection: &ToolSelection| selection.contains(tool.name(), tool.permissions());
        plugin.is_standard() || self.selection.as_ref().is_some_and(is_selected) && self.is_prepared(plugin, tool)
    }

    /// Returns whether the plugin offers the tool. If it prepares its tools and was not asked, it does not.
    fn is_prepared(&self, plugin: &Plugin, tool: &Tool) -> bool {
        match &self.prepared {
            Some(prepared) if plugin.prepares => {
                prepared.get(&plugin.name).is_some_and(|prepared| prepared.hidden(&tool.name().tool).is_none())
            }
            Some(_) | None => true,
        }
    }

    /// Returns why the plugin of a tool hides it from the caller, if it does. Untrusted text.
    pub fn hidden_reason(&self, tool: &Tool) -> Option<&str> {
        self.prepared_by_plugin(tool)?.hidden(&tool.name().tool)
    }

    /// Returns the definition that the caller is offered, if the plugin narrows it for the caller.
    pub fn narrowed(&self, tool: &Tool) -> Option<&Arc<Tool>> {
        self.prepared_by_plugin(tool)?.narrowed(&tool.name().tool)
    }

    fn prepared_by_plugin(&self, tool: &Tool) -> Option<&PreparedTools> {
        self.prepared.as_ref()?.get(&tool.name().plugin).map(|prepared| &**prepared)
    }

    /// Returns an offer as the caller gets it, or `None` if the tool is not offered.
    pub fn narrow(&self, offer: Offer) -> Option<Offer> {
        self.contains(&offer.plugin, &offer.tool).then(|| match self.narrowed(&offer.tool) {
            Some(narrowed) => Offer { tool: Arc::clone(narrowed), ..offer },
            None => offer,
        })
    }

    /// Returns whether every tool is offered, whatever is installed.
    pub fn is_everything(&self) -> bool {
        let hides = |prepared: &BTreeMap<_, Arc<PreparedTools>>| prepared.values().any(|prepared| prepared.hides());
        self.selection.as_ref().is_some_and(ToolSelection::is_everything) && !self.prepared.as_ref().is_some_and(hides)
    }

    /// Returns the offered tools of a catalog, sorted by name.
    pub(crate) fn tools<'a>(&'a self, catalog: &'a Catalog) -> impl Iterator<Item = (&'a Plugin, &'a Tool)> {
        let offered = catalog.tools().filter(|(plugin, tool)| self.contains(plugin, tool));
        offered.map(|(plugin, tool)| (plugin, self.narrowed(tool).map_or(tool, |narrowed| narrowed)))
    }
}
