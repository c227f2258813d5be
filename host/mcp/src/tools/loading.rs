//! Tools that are not known yet, because their plugins are being compiled.

use crate::options::DeniedTools;
use crate::server::Server;
use portcullis::policy::PluginName;
use rmcp::ErrorData;

/// Returns whether clients may know of a plugin whose tools are not known: the tools that it may have would not all be
/// hidden from them.
pub(crate) fn is_shown(server: &Server, plugin: &PluginName) -> bool {
    let inner = server.inner();
    inner.options.denied_tools == DeniedTools::List || inner.host.may_run_some(plugin)
}

/// Returns the full name of a tool, if its name is of a plugin that is being compiled and that clients may know of.
/// Under a name without its plugin, a tool is found only when it is ready.
pub(crate) fn tool(server: &Server, name: &str) -> Option<String> {
    plugins(server).iter().find_map(|plugin| full_name(plugin, name))
}

fn full_name(plugin: &PluginName, name: &str) -> Option<String> {
    match name.strip_prefix(plugin.as_str())? {
        "" => Some(format!("{plugin}.{plugin}")),
        rest => {
            let tool = rest.strip_prefix('.').or_else(|| rest.strip_prefix("__"))?;
            Some(format!("{plugin}.{tool}"))
        }
    }
}

/// Makes the error of a call of a tool that there is not.
pub(crate) fn unknown(server: &Server) -> ErrorData {
    let message = match plugins(server).is_empty() {
        true => "there is no such tool; ask for tools/list",
        false => {
            "there is no such tool yet; some plugins are still being compiled (portcullis://plugins): ask for \
             tools/list again"
        }
    };
    ErrorData::invalid_params(message, None)
}

/// Returns the plugins without any tool yet that clients may know of.
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
    fn a_tool_is_of_the_plugin_that_its_name_begins_with() {
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
