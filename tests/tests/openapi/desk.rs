//! A host with the plugin, a document, and a server that records what it receives.

use portcullis::text::WithCauses;
use portcullis::{Code, Host, Output, Reply, Request};
use portcullis_tests::net::{Behaviour, Server};
use portcullis_tests::{Site, shipped_plugin};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The token of the API, which must appear only on the wire.
pub(crate) const TOKEN: &str = "shop-3xAmPl3T0k3n0fNob0dy";

/// The name of the document.
pub(crate) const FILE: &str = "shop.json";

/// A host with the plugin.
pub(crate) struct Desk {
    pub(crate) site: Site,
    pub(crate) host: Host,
    pub(crate) server: Server,
}

impl Desk {
    /// Opens a host with these paths as the document.
    pub(crate) async fn of(paths: &Value) -> Self {
        Self::answering(paths, Behaviour::ok()).await
    }

    /// Does the same with a server that behaves in a way.
    pub(crate) async fn answering(paths: &Value, behaviour: Behaviour) -> Self {
        Self::open(&document(paths), behaviour, "").await
    }

    /// Opens a host with a document, and with more settings as TOML.
    pub(crate) async fn open(document: &Value, behaviour: Behaviour, settings: &str) -> Self {
        let server = Server::plain(behaviour);
        let site = site(FILE, &document.to_string());
        let host = site.open(&policy(&server, settings)).await;
        Self { site, host, server }
    }

    /// Calls a tool of the plugin.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Reply {
        self.host.call(Request::new(format!("openapi.{tool}"), arguments.to_string())).await
    }

    /// Calls a tool that must complete, and returns the only request that it sent.
    pub(crate) async fn sent(&self, tool: &str, arguments: &Value) -> String {
        let before = self.server.texts().len();
        let reply = self.call(tool, arguments).await;
        assert_eq!(reply.code, Code::Completed, "{tool} {arguments}: {}", reply.message);
        let requests = self.server.texts();
        let [request] = &requests[before..] else { panic!("{tool}: {requests:?}") };
        request.clone()
    }

    /// Calls a tool that must fail, and asserts that nothing was sent.
    pub(crate) async fn refused(&self, tool: &str, arguments: &Value) -> Reply {
        let before = self.server.texts().len();
        let reply = self.call(tool, arguments).await;
        assert_ne!(reply.code, Code::Completed, "{tool} {arguments}: {}", reply.message);
        assert_eq!(self.server.texts().len(), before, "{tool} {arguments}");
        reply
    }

    /// Returns the bytes of a request with this method, target, further headers and body.
    pub(crate) fn request(&self, method: &str, target: &str, headers: &[&str], body: &str) -> String {
        let mut request =
            format!("{method} {target} HTTP/1.1\r\naccept: application/json, text/*;q=0.8, */*;q=0.5\r\n");
        for header in headers {
            request += &format!("{header}\r\n");
        }
        if !body.is_empty() {
            request += &format!("content-length: {}\r\n", body.len());
        }
        request += &format!(
            "accept-encoding: gzip\r\nuser-agent: portcullis/{}\r\nauthorization: Bearer {TOKEN}\r\nhost: {}\r\n\r\n{body}",
            env!("CARGO_PKG_VERSION"),
            self.server.authority(),
        );
        request
    }

    /// Writes another document.
    pub(crate) fn write(&self, document: &Value) {
        fs::write(self.site.path("apis").join(FILE), document.to_string()).unwrap();
    }
}

/// Returns a document with these paths.
pub(crate) fn document(paths: &Value) -> Value {
    json!({ "openapi": "3.0.3", "info": { "title": "Shop", "version": "1" }, "paths": paths })
}

/// Returns an operation with one parameter.
pub(crate) fn with_parameter(parameter: &Value) -> Value {
    json!({ "parameters": [parameter], "responses": {} })
}

/// Makes a site with the plugin and a document.
pub(crate) fn site(file: &str, text: &str) -> Site {
    let site = Site::new();
    site.plugin("openapi", &shipped_plugin("openapi"));
    fs::write(site.directory("apis").join(file), text).unwrap();
    fs::write(site.path("token"), TOKEN).unwrap();
    fs::set_permissions(site.path("token"), fs::Permissions::from_mode(0o600)).unwrap();
    site.warm();
    site
}

/// Returns a policy that allows every call, and binds a server in place of that of the document.
pub(crate) fn policy(server: &Server, settings: &str) -> String {
    let config = format!("document = \"{FILE}\", server = \"http://127.0.0.1:{}/v1\", {settings}", server.port());
    policy_of(server, config.trim_end_matches(", "), "")
}

/// Returns the same with these settings alone, and more limits.
pub(crate) fn policy_of(server: &Server, config: &str, limits: &str) -> String {
    let port = server.port();
    format!(
        r#"
[approvals]
repeats = 1000000
[limits]
time = "20 s"
{limits}
[plugin.openapi]
directory.documents = {{ path = "apis" }}
config = {{ {config} }}
[plugin.openapi.http.api]
hosts = ["127.0.0.1"]
schemes = ["http"]
ports = [{port}]
addresses = ["127.0.0.1"]
methods = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"]
requests-per-minute = 10000
secret = {{ header = "authorization", value = "Bearer {{}}", from = "file:token" }}
[[rule]]
tool = "*.*"
decision = "allow"
"#
    )
}

/// Returns why the plugin is refused.
pub(crate) fn refusal(host: &Host) -> String {
    let catalog = host.catalog();
    let refused = catalog.refusal("openapi").unwrap_or_else(|| panic!("the plugin was not refused"));
    WithCauses(&*refused.error).to_string()
}

/// Returns the names of the plugin's tools, without its own name.
pub(crate) fn tools(host: &Host) -> Vec<String> {
    let catalog = host.catalog();
    let tools = catalog.plugin("openapi").into_iter().flat_map(|plugin| plugin.tools());
    tools.map(|tool| tool.name().tool.to_string()).collect()
}

/// Returns the JSON of a completed call.
#[track_caller]
pub(crate) fn json_of(reply: &Reply) -> Value {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Json(text)) = &reply.output else { panic!("no JSON: {:?}", reply.output) };
    serde_json::from_str(text).unwrap()
}

/// Returns the text of a completed call.
#[track_caller]
pub(crate) fn text_of(reply: &Reply) -> String {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Text(text)) = &reply.output else { panic!("no text: {:?}", reply.output) };
    text.clone()
}
