//! Installed plugins on a real host: the example with a token that it never sees, and the shipped plugins that store
//! data.

#![allow(clippy::disallowed_methods, reason = "tests look at and change what a host keeps")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

use portcullis::{Code, Host, Output, Reply, Request};
use portcullis_tests::net::{Behaviour, Dns, Server};
use portcullis_tests::{Site, allow_all, assert_verifies, built_guest, shipped_plugin};
use serde_json::{Value, json};
use std::fs;

/// A token that must appear only on the wire.
const TOKEN: &str = "ghp_3xAmPl3T0k3n0fNob0dy";

fn private(site: &Site, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(site.path(name), text).unwrap();
    fs::set_permissions(site.path(name), fs::Permissions::from_mode(0o600)).unwrap();
}

/// Opens a host whose `github` plugin uses this server, with or without a token.
async fn with_api(server: &Server, secret: bool) -> (Site, Host, Dns) {
    let (site, dns) = (Site::new(), Dns::start());
    site.plugin("github", &built_guest("github"));
    private(&site, "token", TOKEN);
    dns.point("api.test", &["127.0.0.1"]);
    let port = server.port();
    let mut policy = allow_all("time = \"20 s\"");
    policy += &format!("[network]\nname-servers = [\"{}\"]\n", dns.address());
    policy += &format!("[plugin.github]\nconfig = {{ base = \"http://api.test:{port}\" }}\n[plugin.github.http.api]\n");
    policy += "hosts = [\"api.test\"]\nschemes = [\"http\"]\nmethods = [\"GET\", \"POST\"]\npaths = [\"/repos/\"]\n";
    policy += &format!("ports = [{port}]\naddresses = [\"127.0.0.0/8\"]\n");
    policy += "headers = [\"accept\", \"content-type\", \"user-agent\", \"x-github-api-version\"]\n";
    if secret {
        policy += "secret = { host = \"api.test\", header = \"authorization\", value = \"Bearer {}\", from = \"file:token\" }\n";
    }
    let host = site.open(&policy).await;
    (site, host, dns)
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Reply {
    let reply = host.call(Request::new(tool, arguments.to_string())).await;
    assert_verifies(host);
    reply
}

#[track_caller]
fn text(reply: &Reply) -> &str {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Text(text)) = &reply.output else { panic!("no text") };
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn issues_are_listed_with_a_token_that_the_plugin_never_sees() {
    // This server repeats the token, so the test checks that the response is redacted.
    let server = Server::plain(Behaviour::answer(|request| {
        let request = String::from_utf8_lossy(request);
        let token = request.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or_default();
        let issues =
            json!([{ "number": 4, "title": format!("It stops {token}"), "state": "open", "user": { "login": "ada" } }]);
        Behaviour::whole(200, &[("content-type", "application/json")], issues.to_string())
    }));
    let (_site, host, _dns) = with_api(&server, true).await;
    let reply = call(&host, "github.issues", json!({ "repository": "ada/engine", "limit": 5 })).await;
    assert!(text(&reply).starts_with("#4 It stops ") && !text(&reply).contains(TOKEN), "{}", text(&reply));

    let seen = server.texts();
    let [request] = seen.as_slice() else { panic!("{seen:?}") };
    assert!(request.starts_with("GET /repos/ada/engine/issues?state=open&per_page=5 HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{request}");
    assert!(request.contains("accept: application/vnd.github+json\r\n"), "{request}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_can_be_created_only_with_a_token() {
    let server = Server::plain(Behaviour::answer(|_| {
        let created = json!({ "number": 7, "html_url": "https://api.test/ada/engine/issues/7" });
        Behaviour::whole(201, &[("content-type", "application/json")], created.to_string())
    }));
    let arguments = json!({ "repository": "ada/engine", "title": "It stops", "body": "x".repeat(60_000) });

    let (_site, host, _dns) = with_api(&server, false).await;
    let reply = call(&host, "github.create_issue", arguments.clone()).await;
    assert!(reply.message.contains("needs a token"), "{}", reply.message);
    server.saw_nothing();

    let (_site, host, _dns) = with_api(&server, true).await;
    let reply = call(&host, "github.create_issue", arguments.clone()).await;
    assert_eq!(text(&reply), "Created #7 in ada/engine: https://api.test/ada/engine/issues/7");
    let seen = server.texts();
    let [request] = seen.as_slice() else { panic!("{seen:?}") };
    assert!(request.starts_with("POST /repos/ada/engine/issues HTTP/1.1\r\n"), "{request}");
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body, json!({ "title": "It stops", "body": arguments["body"] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clients_that_increment_lose_no_update() {
    let site = Site::new();
    site.plugin("memory", &shipped_plugin("memory"));
    let policy = allow_all("") + "[plugin.memory]\nstore.notes = {}\n";
    let (one, two) = (site.open(&policy).await, site.open(&policy).await);
    let count = async |host: &Host, client: &str| {
        for _ in 0..200 {
            let request = Request::new("memory.increment", json!({ "key": "visits" }).to_string()).session(client);
            assert_eq!(host.call(request).await.code, Code::Completed);
        }
    };
    tokio::join!(count(&one, "one"), count(&two, "two"));
    assert_eq!(text(&call(&one, "memory.get", json!({ "key": "visits" })).await), "400");
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_outlive_a_session_and_lists_do_not() {
    let site = Site::new();
    site.plugin("memory", &shipped_plugin("memory"));
    site.plugin("todo", &shipped_plugin("todo"));
    let policy = allow_all("")
        + "[plugin.memory]\nstore.notes = { scope = \"plugin\", bytes = \"1 KiB\" }\n"
        + "[plugin.todo]\nstore.items = { scope = \"session\" }\n";
    let host = site.open(&policy).await;
    let within = async |session: &str, tool: &str, arguments: Value| {
        let request = Request::new(tool, arguments.to_string()).session(session);
        host.call(request).await
    };
    let kept = within("one", "memory.set", json!({ "key": "build", "value": "make" })).await;
    assert_eq!(text(&kept), "Kept `build` (4 bytes).");
    assert_eq!(text(&within("two", "memory.get", json!({ "key": "build" })).await), "make");
    assert_eq!(text(&within("two", "memory.list", json!({})).await), "build: make\n");
    let missing = within("two", "memory.get", json!({ "key": "biuld" })).await;
    assert!(missing.message.contains("there is no note `biuld`"), "{}", missing.message);
    let full = within("two", "memory.set", json!({ "key": "much", "value": "x".repeat(2000) })).await;
    assert!(full.message.contains("delete notes you do not need"), "{}", full.message);

    let items =
        json!({ "items": [{ "content": "Read", "status": "completed" }, { "content": "Do", "status": "pending" }] });
    assert_eq!(text(&within("one", "todo.write", items).await), "[x] Read\n[ ] Do\n\n1 of 2 completed\n");
    assert_eq!(text(&within("one", "todo.read", json!({})).await), "[x] Read\n[ ] Do\n\n1 of 2 completed\n");
    assert_eq!(text(&within("two", "todo.read", json!({})).await), "(the list is empty)\n");
    assert_verifies(&host);
}
