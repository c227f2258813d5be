//! A site with a plugin that makes a tool of each entry of a file.

use portcullis::plugins::Contract;
use portcullis::text::WithCauses;
use portcullis::{Host, Reply, Request};
use portcullis_tests::{Site, built_guest_of};
use serde_json::json;
use std::fs;

/// A site whose plugin `dynamic` reads `lists/tools.json`.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    /// Makes the site, with these tools in the file.
    pub(crate) fn new(tools: &[(&str, &str)]) -> Self {
        let desk = Self { site: Site::new() };
        desk.site.plugin("dynamic", &built_guest_of(Contract::V0_2, "dynamic"));
        desk.site.directory("lists");
        desk.list(tools);
        desk
    }

    /// Writes the file.
    pub(crate) fn list(&self, tools: &[(&str, &str)]) {
        let tools: Vec<_> =
            tools.iter().map(|(name, description)| json!({ "name": name, "description": description })).collect();
        fs::write(self.site.path("lists/tools.json"), json!(tools).to_string()).unwrap();
    }

    pub(crate) async fn open(&self) -> Host {
        self.site.open(&policy("")).await
    }

    /// Opens a host whose generator works in a mode.
    pub(crate) async fn in_mode(&self, mode: &str) -> Host {
        self.site.open(&policy(mode)).await
    }
}

/// Returns a policy that allows every call. The mode is a setting of the plugin.
pub(crate) fn policy(mode: &str) -> String {
    format!(
        "[approvals]\nrepeats = 1000000\n[plugin.dynamic]\nconfig = {{ mode = \"{mode}\" }}\n\
         directory.lists = {{ path = \"lists\", access = \"read-write\" }}\n\
         [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n"
    )
}

/// Returns the names of the plugin's tools, without its own name.
pub(crate) fn tools(host: &Host) -> Vec<String> {
    let catalog = host.catalog();
    let tools = catalog.plugin("dynamic").into_iter().flat_map(|plugin| plugin.tools());
    tools.map(|tool| tool.name().tool.to_string()).collect()
}

/// Returns why the plugin is refused.
pub(crate) fn refusal(host: &Host) -> Option<String> {
    host.catalog().refusal("dynamic").map(|refused| WithCauses(&*refused.error).to_string())
}

pub(crate) async fn call(host: &Host, tool: &str, arguments: &str) -> Reply {
    host.call(Request::new(format!("dynamic.{tool}"), arguments)).await
}
