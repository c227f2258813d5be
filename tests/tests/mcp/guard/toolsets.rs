//! Toolsets over HTTP: the clients of one server, each with the tools that the policy offers to it alone.

use crate::guard::ask::Ask;
use crate::guard::http::Serving;
use crate::guard::service::{GOOD, LEGACY, MODERN, modern};
use portcullis_tests::{Manifest, Site, guest};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const SECOND: &str = "second__run";

const ALICE: &str = "alice-0123456789abcdef0123456789abcdef";
const BOB: &str = "bob-0123456789abcdef0123456789abcdef";

const POLICY: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n\
    [toolset.good]\ntools = [\"good.*\"]\n[toolset.second]\ntools = [\"second.*\"]\n";

/// A client in one era of the protocol.
struct HttpClient<'a> {
    serving: &'a Serving,
    token: &'static str,
    name: &'static str,
    /// The session of a client with a handshake.
    session: Option<String>,
}

impl<'a> HttpClient<'a> {
    fn modern(serving: &'a Serving, token: &'static str, name: &'static str) -> Self {
        Self { serving, token, name, session: None }
    }

    async fn legacy(serving: &'a Serving, token: &'static str, name: &'static str) -> Self {
        let client = Self::modern(serving, token, name);
        let info = json!({ "name": name, "version": "1" });
        let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = client.post(&message).send(serving.address).await.is(200);
        let session = Some(answer.header("Mcp-Session-Id").unwrap().to_owned());
        Self { session, ..client }
    }

    fn post(&self, message: &Value) -> Ask {
        Ask::new("POST", "/mcp")
            .with("Host", &self.serving.address.to_string())
            .with("Authorization", &format!("Bearer {}", self.token))
            .with("Accept", "application/json, text/event-stream")
            .with("Content-Type", "application/json")
            .body(message.to_string())
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let tool = params["name"].as_str().map(str::to_owned);
        let mut message = modern(method, params);
        let params = message["params"].as_object_mut().unwrap();
        match &self.session {
            Some(_) => drop(params.remove("_meta")),
            None => params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = self.name.into(),
        }
        let ask = self.post(&message);
        let ask = match (&self.session, tool) {
            (Some(session), _) => ask.with("MCP-Protocol-Version", LEGACY).with("Mcp-Session-Id", session),
            (None, Some(tool)) => {
                ask.with("MCP-Protocol-Version", MODERN).with("Mcp-Method", method).with("Mcp-Name", &tool)
            }
            (None, None) => ask.with("MCP-Protocol-Version", MODERN).with("Mcp-Method", method),
        };
        ask.send(self.serving.address).await.last()
    }

    /// Asserts that the client sees and calls one tool of the plugins, and not the other.
    async fn has_only(&self, own: &str, other: &str) {
        let page = self.ask("tools/list", json!({})).await;
        let tools = page["result"]["tools"].as_array().unwrap_or_else(|| panic!("{page}"));
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.contains(&own) && names.contains(&"output__read") && !names.contains(&other), "{names:?}");
        let called = self.ask("tools/call", json!({ "name": own, "arguments": {} })).await;
        assert_eq!(called["result"]["isError"], false, "{called}");
        for name in [other.to_owned(), other.replace("__", ".")] {
            let refused = self.ask("tools/call", json!({ "name": name, "arguments": {} })).await;
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
        }
    }
}

/// A site with two plugins, two principals, and these offers.
fn site(offers: &str) -> Site {
    let site = Site::new();
    fs::write(site.path("policy.toml"), format!("{POLICY}{offers}")).unwrap();
    site.plugin("second", &guest("good", &Manifest::of("second")));
    fs::write(site.path("tokens"), format!("alice:{ALICE}\nbob:{BOB}\n")).unwrap();
    fs::set_permissions(site.path("tokens"), fs::Permissions::from_mode(0o600)).unwrap();
    site
}

/// Asserts that the first client has only one tool, and the second one only the other, in both orders.
async fn each_has_its_own(one: &HttpClient<'_>, two: &HttpClient<'_>) {
    one.has_only(GOOD, SECOND).await;
    two.has_only(SECOND, GOOD).await;
    one.has_only(GOOD, SECOND).await;
}

#[tokio::test]
async fn each_principal_sees_and_calls_only_the_tools_that_it_is_offered() {
    let offers = "[[offer]]\nprincipal = \"mcp.alice\"\ntoolset = \"good\"\n\
                  [[offer]]\nprincipal = \"mcp.bob\"\ntoolset = \"second\"\n";
    let site = site(offers);
    let serving = Serving::start(&site, &["--token-file", "tokens"]).await;
    // The name that a client gives itself changes nothing.
    let (alice, bob) = (HttpClient::modern(&serving, ALICE, "x"), HttpClient::modern(&serving, BOB, "x"));
    each_has_its_own(&alice, &bob).await;
    let alice = HttpClient::legacy(&serving, ALICE, "x").await;
    each_has_its_own(&alice, &HttpClient::legacy(&serving, BOB, "x").await).await;
}

#[tokio::test]
async fn each_client_of_one_principal_sees_and_calls_only_the_tools_that_its_name_is_offered() {
    let offers = "[[offer]]\nclient = \"one*\"\ntoolset = \"good\"\n\
                  [[offer]]\nclient = \"two\"\ntoolset = \"second\"\n";
    let site = site(offers);
    let serving = Serving::start(&site, &["--token-file", "tokens"]).await;
    let (one, two) = (HttpClient::modern(&serving, ALICE, "One-Client"), HttpClient::modern(&serving, ALICE, "two"));
    each_has_its_own(&one, &two).await;
    let one = HttpClient::legacy(&serving, ALICE, "One-Client").await;
    each_has_its_own(&one, &HttpClient::legacy(&serving, ALICE, "two").await).await;
}
