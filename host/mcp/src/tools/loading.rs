//! Tools that a client names: one that it is offered, or one that is not known yet, because its plugin is still being
//! compiled.

use super::listing::{ListedTool, ToolListing};
use crate::offered;
use crate::options::DeniedTools;
use crate::server::Server;
use portcullis::policy::PluginName;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// Returns whether clients may know of a plugin whose tools are not known yet. They may unless the policy would hide
/// every tool that it could have.
pub(crate) fn is_shown(server: &Server, plugin: &PluginName) -> bool {
    let inner = server.inner();
    inner.options.denied_tools == DeniedTools::List || inner.host.may_run_some(plugin)
}

/// Returns the full name of a tool of a plugin that is being compiled, if clients may know of the plugin. A tool can be
/// called by a name without its plugin only when it is ready.
pub(crate) fn tool(server: &Server, name: &str) -> Option<String> {
    plugins(server).iter().find_map(|plugin| full_name(plugin, name))
}

fn full_name(plugin: &PluginName, name: &str) -> Option<String> {
    match name.strip_prefix(plugin.as_str())? {
        // A tool that is named like its plugin is listed by that one name.
        "" => Some(format!("{plugin}.{plugin}")),
        rest => {
            let tool = rest.strip_prefix('.').or_else(|| rest.strip_prefix("__"))?;
            Some(format!("{plugin}.{tool}"))
        }
    }
}

/// Finds the tool that a client is offered under its listed name or its full name. No plugin other than the tool's own
/// is asked.
pub(crate) async fn find<'a>(
    server: &Server,
    listing: &'a ToolListing,
    name: &str,
    cx: &RequestContext<RoleServer>,
) -> Option<&'a ListedTool> {
    let listed = listing.find(name)?;
    offered::contains(server, cx, &listed.offer()).await.then_some(listed)
}

/// Returns the full name of the tool that an argument of a client names, or the message that a call of it would get if
/// the client could not call it.
pub(crate) async fn named(
    server: &Server,
    (listing, cx): (&ToolListing, &RequestContext<RoleServer>),
    name: &str,
) -> Result<String, String> {
    let listed = find(server, listing, name, cx).await.map(|listed| listed.tool.name().to_string());
    listed.or_else(|| tool(server, name)).ok_or_else(|| unknown(server).message.into_owned())
}

/// Returns the error for a call of an unknown tool.
pub(crate) fn unknown(server: &Server) -> ErrorData {
    let message = match plugins(server).is_empty() {
        true => "there is no such tool; use a name from tools/list",
        false => {
            "there is no such tool yet, because some plugins are still being compiled (see portcullis://plugins); \
             request tools/list again in a few seconds"
        }
    };
    ErrorData::invalid_params(message, None)
}

/// Returns the plugins that have no tools yet and that clients may know of.
fn plugins(server: &Server) -> Vec<PluginName> {
    let host = &server.inner().host;
    let mut plugins = host.loading();
    let catalog = host.catalog();
    plugins.retain(|plugin| catalog.plugin(plugin.as_str()).is_none() && is_shown(server, plugin));
    plugins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_belongs_to_the_plugin_whose_name_its_own_begins_with() {
        let plugin = PluginName::new("slow").unwrap();
        for name in ["slow__run", "slow.run"] {
            assert_eq!(full_name(&plugin, name).as_deref(), Some("slow.run"));
        }
        assert_eq!(full_name(&plugin, "slow").as_deref(), Some("slow.slow"));
        for name in ["slower__run", "slow_run", "slow-run", "run", "", "fast__run", "slo"] {
            assert_eq!(full_name(&plugin, name), None, "{name}");
        }
    }
}
