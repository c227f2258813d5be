//! Servers at an address: what the host sends them, where it connects, and what comes back.

use crate::servers::desk::{ALLOW, call, definition, refusals, tools};
use portcullis::{Code, Host};
use portcullis_tests::net::{Authority, Behaviour, Dns, Server};
use portcullis_tests::{Site, assert_verifies, outcome_of};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The token of the operator. It must not leave the host but to the server.
const TOKEN: &str = "canary-token-5c0f9e2a71";

/// Returns a server of the handshake era that echoes the headers of a call. It forgets its sessions when `forgets` is
/// set.
fn mcp(forgets: &Arc<AtomicBool>) -> Behaviour {
    let forgets = Arc::clone(forgets);
    Behaviour::answer(move |request| {
        let request = String::from_utf8_lossy(request);
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((&request, ""));
        let Ok(message) = serde_json::from_str::<Value>(body) else { return Behaviour::whole(405, &[], "") };
        let method = message["method"].as_str().unwrap_or_default();
        if method != "initialize" && forgets.swap(false, Ordering::SeqCst) {
            return Behaviour::whole(404, &[], "");
        }
        let result = match method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "desk", "version": "1.2.3" },
            }),
            "tools/list" => json!({ "tools": [definition("headers", "Shows what it got.")] }),
            "tools/call" => json!({ "content": [{ "type": "text", "text": head }] }),
            "server/discover" => return Behaviour::whole(400, &[], ""),
            _ => return Behaviour::whole(202, &[], ""),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
        let headers = [("content-type", "application/json"), ("mcp-session-id", "s1")];
        Behaviour::whole(200, &headers, answer)
    })
}

/// A site whose policy names a server at an address.
struct AddressDesk {
    site: Site,
    forgets: Arc<AtomicBool>,
    server: Server,
    dns: Dns,
    lines: String,
}

impl AddressDesk {
    /// Starts a server with a certificate of the operator's own authority.
    fn new() -> Self {
        portcullis::init();
        let (site, forgets, dns) = (Site::new(), Arc::default(), Dns::start());
        let authority = Authority::new("the operator's own");
        fs::write(site.path("roots.pem"), authority.pem()).unwrap();
        let server = Server::tls(authority.serves(&["desk.test"]), mcp(&forgets));
        dns.point("desk.test", &["127.0.0.1"]);
        let port = server.port();
        let lines = format!("url = \"https://desk.test:{port}/v1/mcp\"\nroots = \"roots.pem\"\n");
        Self { site, forgets, server, dns, lines }
    }

    async fn open(&self, lines: &str) -> Host {
        let network = format!("[network]\nname-servers = [\"{}\"]\n", self.dns.address());
        self.site.open(&format!("[server.desk]\n{}{lines}\n{network}{ALLOW}", self.lines)).await
    }
}

/// What lets the host connect to a private address.
const PRIVATE: &str = "addresses = [\"127.0.0.0/8\"]";

#[tokio::test]
async fn the_secret_and_the_headers_of_the_policy_reach_the_server_and_no_caller() {
    let desk = AddressDesk::new();
    fs::write(desk.site.path("token"), TOKEN).unwrap();
    let secret = "secret = { header = \"authorization\", value = \"Bearer {}\", from = \"file:token\" }";
    let host = desk.open(&format!("{PRIVATE}\n{secret}\nheaders = {{ x-team = \"red\" }}")).await;
    assert_eq!(tools(&host), ["headers"], "{:?}", refusals(&host));
    let reply = call(&host, "headers", json!({})).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert!(reply.message.contains("x-team: red") && reply.message.contains("POST /v1/mcp"), "{}", reply.message);
    assert!(!reply.message.contains(TOKEN) && reply.message.contains("authorization: Bearer "), "{}", reply.message);
    let sent = desk.server.texts();
    assert!(sent.iter().all(|request| request.contains(&format!("authorization: Bearer {TOKEN}"))), "{sent:#?}");
    let outcome = outcome_of(&host, &reply.id).to_string();
    assert!(outcome.contains("https://desk.test") && !outcome.contains(TOKEN), "{outcome}");
    assert_verifies(&host);
}

#[tokio::test]
async fn a_name_with_a_private_address_gets_no_connection() {
    let desk = AddressDesk::new();
    let host = desk.open("").await;
    let refused = refusals(&host).join("\n");
    assert!(refused.contains("desk.test has the address 127.0.0.1, which the policy does not allow"), "{refused}");
    desk.server.saw_nothing();
}

#[tokio::test]
async fn a_certificate_of_another_authority_gets_no_request() {
    let desk = AddressDesk::new();
    let other = Authority::new("somebody else");
    fs::write(desk.site.path("roots.pem"), other.pem()).unwrap();
    let host = desk.open(PRIVATE).await;
    assert!(refusals(&host).join("\n").contains("certificate is not trusted"), "{:?}", refusals(&host));
    assert!(desk.server.texts().is_empty());
}

#[tokio::test]
async fn a_session_that_the_server_has_forgotten_begins_again_with_the_next_call() {
    let desk = AddressDesk::new();
    let host = desk.open(PRIVATE).await;
    assert_eq!(call(&host, "headers", json!({})).await.code, Code::Completed);
    desk.forgets.store(true, Ordering::SeqCst);
    assert_eq!(call(&host, "headers", json!({})).await.code, Code::ToolUnavailable);
    let reply = call(&host, "headers", json!({})).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    portcullis::init();
    let (site, other) = (Site::new(), Server::plain(Behaviour::ok()));
    let server = Server::plain(Behaviour::redirect(307, format!("http://{}/mcp", other.authority())));
    let host = site.open(&format!("[server.desk]\nurl = \"http://{}/mcp\"\n{ALLOW}", server.authority())).await;
    assert!(refusals(&host).join("\n").contains("HTTP status 307"), "{:?}", refusals(&host));
    other.saw_nothing();
}

#[tokio::test]
async fn a_call_is_described_by_the_address_for_the_approver() {
    let desk = AddressDesk::new();
    let network = format!("[network]\nname-servers = [\"{}\"]\n", desk.dns.address());
    let host = desk.site.open(&format!("[server.desk]\n{}{PRIVATE}\n{network}", desk.lines)).await;
    let reply = call(&host, "headers", json!({})).await;
    assert_eq!(reply.code, Code::ApprovalPending, "{}", reply.message);
    let asked = host.approvals().question(&reply.approval_request.unwrap()).await.unwrap();
    let shown = format!("{asked:?}");
    assert!(shown.contains(&format!("connects to https://desk.test:{}/v1/mcp", desk.server.port())), "{shown}");
}

#[tokio::test]
async fn calls_beyond_the_connections_of_a_server_wait() {
    let desk = AddressDesk::new();
    let host = desk.open(PRIVATE).await;
    let calls: Vec<_> = (0..60)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { call(&host, "headers", json!({})).await })
        })
        .collect();
    for called in calls {
        let reply = called.await.unwrap();
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    }
}
