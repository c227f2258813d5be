//! A site with a plugin that hides and narrows its tools.

use portcullis::plugins::Contract;
use portcullis::policy::{Audience, Principal};
use portcullis::{Host, OfferedTools, Request};
use portcullis_tests::{Site, built_guest_of};

/// A site whose plugin `prepared` hides and narrows its tools in a mode.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self { site: Site::new() };
        desk.site.plugin("prepared", &built_guest_of(Contract::V0_2, "prepared"));
        desk.site.directory("notes");
        desk
    }

    pub(crate) async fn open(&self, mode: &str) -> Host {
        self.site.open(&policy(mode)).await
    }
}

/// Returns a policy that allows every call, and grants every handle. The mode is a setting of the plugin.
pub(crate) fn policy(mode: &str) -> String {
    format!(
        "[approvals]\nrepeats = 1000000\n[plugin.prepared]\nconfig = {{ mode = \"{mode}\" }}\n\
         directory.notes = {{ path = \"notes\", access = \"read-write\" }}\n\
         http.site = {{ hosts = [\"example.com\"] }}\nstore.seen = {{}}\ntools.others = {{ tools = [\"*.*\"] }}\n\
         [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n"
    )
}

/// Returns the tools that a caller in a session is offered.
pub(crate) async fn offered(host: &Host, session: &str) -> OfferedTools {
    let principal = Principal::default();
    host.offered_tools(&Audience::new(&principal, session)).await.unwrap()
}

/// Returns the names of the plugin's tools that are offered.
pub(crate) fn names(host: &Host, offered: &OfferedTools) -> Vec<String> {
    let catalog = host.catalog();
    let plugin = catalog.plugin("prepared").unwrap();
    let tools = plugin.tools().filter(|tool| offered.contains(plugin, tool));
    tools.map(|tool| tool.name().tool.to_string()).collect()
}

/// Returns why a tool of the plugin is hidden.
pub(crate) fn reason(host: &Host, offered: &OfferedTools, tool: &str) -> Option<String> {
    let catalog = host.catalog();
    let tool = catalog.plugin("prepared").unwrap().tools().find(|known| known.name().tool.as_str() == tool).unwrap();
    offered.hidden_reason(tool).map(str::to_owned)
}

pub(crate) fn erase() -> Request {
    Request::new("prepared.erase", "{}")
}

pub(crate) fn note(kind: &str) -> Request {
    Request::new("prepared.note", format!("{{\"text\":\"milk\",\"kind\":\"{kind}\"}}"))
}
