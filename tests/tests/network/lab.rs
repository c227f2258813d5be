//! A host whose plugin may reach part of the network, and helpers to observe it.

use portcullis::{Code, Host, Output, Reply, Request};
use portcullis_tests::net::{Dns, Server};
use portcullis_tests::{Site, allow_all, assert_verifies, built_guest, outcome_of, renamed};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The name of the attacking plugin.
const PLUGIN: &str = "courier";

/// The name of the same plugin's twin. Both names have the same length.
const TWIN: &str = "drifter";

/// A binding of an HTTP key that a test can edit.
#[derive(Clone, Debug)]
pub(crate) struct Grant(BTreeMap<&'static str, String>);

impl Grant {
    /// Binds plain requests to these hosts at a server's port, on the loopback address, with generous limits.
    pub(crate) fn to(hosts: &[&str], server: &Server) -> Self {
        Self(BTreeMap::new())
            .set("hosts", &format!("{hosts:?}"))
            .set("schemes", "[\"http\"]")
            .set("ports", &format!("[{}]", server.port()))
            .set("methods", "[\"GET\", \"HEAD\", \"POST\", \"PUT\", \"DELETE\"]")
            .set("addresses", "[\"127.0.0.0/8\", \"::1\"]")
            .set("requests", "1000")
            .set("requests-per-minute", "10000")
            .set("time", "\"5 s\"")
    }

    /// Binds TLS requests to these hosts, whose certificates this authority signed.
    pub(crate) fn tls(hosts: &[&str], server: &Server) -> Self {
        Self::to(hosts, server).set("schemes", "[\"https\"]").set("roots", "\"roots.pem\"")
    }

    /// Sets a field to a TOML value.
    pub(crate) fn set(mut self, field: &'static str, value: &str) -> Self {
        self.0.insert(field, value.to_owned());
        self
    }

    /// Removes a field.
    pub(crate) fn without(mut self, field: &'static str) -> Self {
        self.0.remove(field);
        self
    }

    /// Returns the inline table.
    pub(crate) fn text(&self) -> String {
        let fields: Vec<_> = self.0.iter().map(|(field, value)| format!("{field} = {value}")).collect();
        format!("{{ {} }}", fields.join(", "))
    }
}

/// A host, its resolver, and its files.
pub(crate) struct Lab {
    pub(crate) site: Site,
    pub(crate) host: Host,
    pub(crate) dns: Dns,
}

/// A host that is not open yet.
pub(crate) struct Plan {
    pub(crate) site: Site,
    pub(crate) dns: Dns,
    limits: String,
    keys: BTreeMap<(&'static str, &'static str), Grant>,
}

impl Plan {
    /// Makes a site with the plugin and its twin, without any grant.
    pub(crate) async fn new() -> Self {
        let site = bare();
        site.warm();
        let limits = "time = \"20 s\"".to_owned();
        Self { site, dns: Dns::start(), limits, keys: BTreeMap::new() }
    }

    /// Binds a key of the plugin.
    pub(crate) fn grant(mut self, key: &'static str, grant: Grant) -> Self {
        self.keys.insert((PLUGIN, key), grant);
        self
    }

    /// Binds a key of the twin.
    pub(crate) fn grant_twin(mut self, key: &'static str, grant: Grant) -> Self {
        self.keys.insert((TWIN, key), grant);
        self
    }

    /// Sets the limits of calls.
    pub(crate) fn limits(mut self, limits: &str) -> Self {
        limits.clone_into(&mut self.limits);
        self
    }

    /// Writes a private file into the site.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(self.site.path(name)).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        self
    }

    /// Returns the policy's text.
    pub(crate) fn policy(&self) -> String {
        let mut text = allow_all(&self.limits);
        let _ = writeln!(text, "[network]\nname-servers = [\"{}\"]", self.dns.address());
        for plugin in [PLUGIN, TWIN] {
            let _ = writeln!(text, "[plugin.{plugin}]");
            for ((_, key), grant) in self.keys.iter().filter(|((owner, _), _)| *owner == plugin) {
                let _ = writeln!(text, "http.{key} = {}", grant.text());
            }
        }
        text
    }

    /// Opens the host.
    pub(crate) async fn open(self) -> Lab {
        let host = self.site.open(&self.policy()).await;
        for plugin in [PLUGIN, TWIN] {
            if let Some(refusal) = host.catalog().refusal(plugin) {
                panic!("{plugin} was refused: {}", refusal.error);
            }
        }
        Lab { site: self.site, host, dns: self.dns }
    }
}

impl Lab {
    /// Opens a host that binds the key `api`.
    pub(crate) async fn open(grant: Grant) -> Self {
        Plan::new().await.grant("api", grant).open().await
    }

    /// Opens a host that binds `api` to `good.test` at a server, with the address 127.0.0.1.
    pub(crate) async fn good(server: &Server) -> Self {
        let lab = Self::open(Grant::to(&["good.test"], server)).await;
        lab.dns.point("good.test", &["127.0.0.1"]);
        lab
    }

    /// Calls a tool. Any outcome is accepted. Asserts what must be true for every call.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Reply {
        let reply = self.host.call(Request::new(tool, arguments.to_string())).await;
        outcome_of(&self.host, &reply.id);
        assert_verifies(&self.host);
        reply
    }

    /// Makes the plugin run errands. Returns the result of each.
    #[track_caller]
    pub(crate) fn send(&self, errands: Vec<Value>) -> impl Future<Output = Vec<Value>> {
        self.send_as("courier.send", errands)
    }

    /// Does the same through another tool.
    pub(crate) async fn send_as(&self, tool: &str, errands: Vec<Value>) -> Vec<Value> {
        let reply = self.call(tool, &json!({ "errands": errands })).await;
        values(&reply)
    }

    /// Makes the plugin run one errand.
    pub(crate) async fn one(&self, errand: Value) -> Value {
        self.send(vec![errand]).await.remove(0)
    }
}

/// Returns the values in the result of a completed call.
pub(crate) fn values(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Json(text)) = &reply.output else { panic!("no JSON") };
    serde_json::from_str(text).unwrap()
}

/// Builds a request to a path at a name and a server's port, through `api`.
pub(crate) fn to(name: &str, server: &Server, path: &str) -> Value {
    json!({ "client": "api", "authority": format!("{name}:{}", server.port()), "path": path })
}

/// Does the same with more fields.
pub(crate) fn with(mut errand: Value, fields: &Value) -> Value {
    let fields = fields.as_object().unwrap().clone();
    errand.as_object_mut().unwrap().extend(fields);
    errand
}

/// Asserts that a request got this response.
#[track_caller]
pub(crate) fn answered(result: &Value, status: u16) {
    assert_eq!(result["status"], status, "{result}");
    assert_eq!(result["error"], Value::Null, "{result}");
}

/// Asserts that the host denied a request before it left.
#[track_caller]
pub(crate) fn denied(result: &Value) {
    assert!(is_denied(result), "{result}");
}

/// Returns whether the host denied a request before it left.
pub(crate) fn is_denied(result: &Value) -> bool {
    let Some(error) = result["error"].as_str() else { return false };
    // Either the types of `wasi:http` reject it before there is a request, or the host denies it with a reason.
    let refused_before =
        matches!(result["at"].as_str(), Some("method" | "scheme" | "authority" | "path" | "headers" | "handle"));
    result["status"].is_null() && (refused_before || REFUSALS.iter().any(|refusal| error.starts_with(refusal)))
}

/// Errors that mean that nothing was sent.
const REFUSALS: [&str; 7] = [
    "HttpRequestDenied",
    "HttpRequestUriInvalid",
    "HttpRequestMethodInvalid",
    "HttpRequestUriTooLong",
    "HttpRequestHeader",
    "DestinationIpProhibited",
    "DestinationNotFound",
];

/// Asserts that a request failed, and that its result contains nothing complete.
#[track_caller]
pub(crate) fn failed(result: &Value) -> &str {
    result["error"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn bare() -> Site {
    let site = Site::new();
    let guest = built_guest("net");
    site.plugin(PLUGIN, &guest);
    site.plugin(TWIN, &renamed(&guest, PLUGIN, TWIN).0);
    site
}
