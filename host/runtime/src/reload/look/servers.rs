//! MCP servers that a new policy names, changes or no longer names, and servers whose tools may have changed.

use super::ReloadLook;
use crate::catalog::{self, LoadError, Plugin, RefusedPlugin};
use crate::reload::change::{CatalogChange, What};
use crate::reload::error::ReloadError;
use crate::text::WithCauses;
use portcullis_policy::PluginName;
use std::sync::Arc;

impl ReloadLook<'_> {
    /// Makes the servers those of the policy that will be in force, and lists the tools of those that need it. A server
    /// that cannot be used any more keeps its tools, so that its calls say why.
    pub(in crate::reload) async fn serve(&mut self) -> Result<(), ReloadError> {
        let policy = Arc::clone(&self.next.policy);
        self.without_servers();
        for name in policy.policy.servers() {
            // A host for one call starts no server that the call does not need.
            if self.next.left_out.contains(name) {
                continue;
            }
            let known = self.next.plugins.get(name).filter(|plugin| plugin.is_server()).cloned();
            let sha256 = catalog::server_sha256(name, &policy.policy);
            if let Some(known) = known.as_ref().filter(|known| known.sha256 == sha256 && !needs_list(known)) {
                // What was refused before may have been another command, which the policy no longer names.
                self.refuse_only_withheld(known);
                continue;
            }
            let fresh = self.host.loader.server(name, &policy.policy);
            let fresh = match &known {
                // The link keeps a running server, and compares what it was started with at its next use.
                Some(known) => fresh.with_link_of(known),
                None => fresh,
            };
            let file = fresh.file.clone();
            match self.bind(fresh).await {
                Ok(plugin) => match known.filter(|known| is_same(known, &plugin)) {
                    // The plugin that is served stays, so that the catalog does not change for nothing.
                    Some(known) => {
                        known.confirm_with(&plugin);
                        self.refuse_only_withheld(&known);
                    }
                    None => self.put_server(&file, plugin),
                },
                Err(LoadError::Audit(error)) => return Err(error.into()),
                Err(error) => self.note_refusal(file, None, Arc::new(error)),
            }
        }
        Ok(())
    }

    /// Returns whether the policy that will be in force has a server with the name of a file.
    pub(super) fn is_server(&self, file: &str) -> bool {
        let name = catalog::file::plugin_name(file).ok();
        name.is_some_and(|name| self.next.policy.policy.server(&name).is_some())
    }

    /// Removes the servers that the policy no longer names.
    fn without_servers(&mut self) {
        let policy = Arc::clone(&self.next.policy);
        let is_named = |name: &PluginName| policy.policy.server(name).is_some();
        let gone: Vec<Arc<Plugin>> = self
            .next
            .plugins
            .values()
            .filter(|plugin| plugin.is_server() && !is_named(&plugin.name))
            .cloned()
            .collect();
        for plugin in gone {
            self.next.plugins.remove(&plugin.name);
            self.take_refusal(&plugin.file);
            let what = What::Removed(plugin.name.clone());
            self.changes.push(CatalogChange::new(what, plugin.file.clone(), Some(plugin.sha256)));
        }
        let is_stray = |file: &str| {
            let name = catalog::server_of(file).and_then(|name| name.parse().ok());
            name.is_some_and(|name: PluginName| !is_named(&name))
        };
        let stray: Vec<String> =
            self.next.refused.iter().map(|refused| &refused.file).filter(|file| is_stray(file)).cloned().collect();
        for file in stray {
            if self.take_refusal(&file) {
                self.changes.push(CatalogChange::new(What::Cleared, file, None));
            }
        }
    }

    /// Adds a server, and lists why some of its tools are withheld.
    fn put_server(&mut self, file: &str, plugin: Plugin) {
        let withheld = plugin.withheld.clone();
        self.put(file.to_owned(), plugin);
        self.refuse_withheld(file, &withheld);
    }

    /// Ends the refusal of a server that serves as it did before. If tools of it are withheld, the reasons are listed
    /// again, because the refusal had taken their place.
    fn refuse_only_withheld(&mut self, server: &Plugin) {
        let refused = self.next.refused.iter().filter(|refused| refused.file == server.file);
        if refused.map(|refused| reason(&refused.error)).eq(server.withheld.iter().map(reason)) {
            return;
        }
        self.clear(server.file.clone(), server.sha256);
        self.refuse_withheld(&server.file, &server.withheld);
    }

    fn refuse_withheld(&mut self, file: &str, withheld: &[Arc<LoadError>]) {
        for error in withheld {
            self.next.refused.push(RefusedPlugin { file: file.to_owned(), error: Arc::clone(error) });
            self.changes.push(CatalogChange {
                reason: Some(reason(error)),
                ..CatalogChange::new(What::Refused, file.to_owned(), None)
            });
        }
    }
}

/// Returns whether the tools of a server may have changed, or a person may have accepted a change.
fn needs_list(server: &Plugin) -> bool {
    !server.withheld.is_empty() || server.is_out_of_date() || server.server_link().is_none()
}

/// Returns whether a server is as it was, with the same tools and the same reasons why others are withheld.
fn is_same(known: &Plugin, plugin: &Plugin) -> bool {
    known.sha256 == plugin.sha256
        && known.has_tools_of(plugin)
        && known.holds_tools_of(plugin)
        && known.withheld.iter().map(reason).eq(plugin.withheld.iter().map(reason))
}

fn reason(error: &Arc<LoadError>) -> String {
    WithCauses(&**error).to_string()
}
