//! The console as a part of `portcullis serve --http --console`: people sign in with the token of an approver, and the
//! token of an agent opens nothing.

use crate::console::desk::SignedIn;
use crate::guard::ask::{Answer, Ask, PATIENCE};
use crate::guard::http::Serving;
use portcullis_tests::{Manifest, Site, guest, program};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const CALLER: &str = "caller-0123456789abcdef0123456789abcdef";
const ALICE: &str = "alice-0123456789abcdef0123456789abcdef";
const BOB: &str = "bob-0123456789abcdef0123456789abcdef";
/// The end of a body in chunks (RFC 9112, section 7.1).
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

const POLICY: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\nreason = \"a person looks\"\n";

/// A site whose agent and approvers have tokens.
fn site() -> Site {
    let site = Site::new();
    site.plugin("good", &guest("good", &Manifest::of("good")));
    fs::write(site.path("policy.toml"), POLICY).unwrap();
    put_tokens(&site, &format!("ci: {CALLER}\napprover alice: {ALICE}\napprover bob: {BOB}\n"));
    site
}

fn put_tokens(site: &Site, text: &str) {
    let file = site.path("tokens");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

async fn serve(site: &Site, more: &[&str]) -> Serving {
    Serving::start(site, &[&["--console", "--token-file", "tokens"], more].concat()).await
}

/// Returns the form with which a browser signs in at the server's own address.
fn form(serving: &Serving, token: &str) -> Ask {
    let host = serving.address.to_string();
    Ask::new("POST", "/sign-in")
        .with("Host", &host)
        .with("Origin", &format!("http://{host}"))
        .with("Sec-Fetch-Site", "same-origin")
        .with("Content-Type", "application/x-www-form-urlencoded")
        .body(format!("token={token}"))
}

async fn sign_in(serving: &Serving, token: &str) -> SignedIn {
    let response = form(serving, token).send(serving.address).await.is(303);
    let cookie = response.header("Set-Cookie").unwrap();
    assert!(!cookie.contains("Secure"), "{cookie}");
    SignedIn { address: serving.address, cookie: cookie.split(';').next().unwrap().to_owned() }
}

/// Loads the inbox until it shows a request. Returns its id.
async fn request_of(browser: &SignedIn) -> String {
    let found = async {
        loop {
            let inbox = browser.get("/inbox").await;
            if let Some(id) = inbox.header("Location").and_then(|place| place.strip_prefix("/inbox/")) {
                return id.to_owned();
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, found).await.expect("no request came")
}

/// Runs a command on the state of a site.
async fn portcullis(site: &Site, arguments: &[&str]) -> Output {
    let mut command = tokio::process::Command::new(program());
    command.args(arguments).env_clear().current_dir(site.path(""));
    command.args(["--plugins", "plugins", "--policy", "policy.toml", "--state", "state"]);
    timeout(PATIENCE, command.output()).await.unwrap().unwrap()
}

#[tokio::test]
async fn an_approver_answers_the_call_of_an_agent_and_the_log_names_them() {
    let site = site();
    let serving = serve(&site, &[]).await;
    let alice = sign_in(&serving, ALICE).await;
    let answering = async {
        let id = request_of(&alice).await;
        alice.answer(&id, "approve", &[]).await.is(303);
    };
    let (answer, ()) = tokio::join!(serving.call_tool(CALLER, "good__run"), answering);
    let result = answer.is(200).last();
    assert_ne!(result["result"]["isError"], json!(true), "{result}");
    serving.interrupt().await;
    let log = portcullis(&site, &["log", "--json"]).await;
    let document: Value = serde_json::from_slice(log.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&document["by"], &document["answer"]), (&json!("mcp.alice"), &json!("yes")), "{document}");
    let log = portcullis(&site, &["log"]).await;
    let text = String::from_utf8(log.stdout).unwrap();
    assert!(text.contains("approved once by mcp.alice"), "{text}");
}

#[tokio::test]
async fn the_tokens_of_agents_open_no_page_and_those_of_approvers_call_no_tool() {
    let site = site();
    let serving = serve(&site, &[]).await;
    for wrong in [CALLER, "", "x", "alice", &ALICE[1..], &format!("alice:{ALICE}")] {
        let refused = form(&serving, wrong).send(serving.address).await.is(403);
        assert!(refused.header("Set-Cookie").is_none() && refused.body.contains("unknown"), "{wrong}: {refused:?}");
        assert!(!refused.body.contains("0123456789"), "the page must not repeat the token: {refused:?}");
    }
    serving.call_tool(ALICE, "good__run").await.is(401);
    for page in ["/", "/inbox", "/live", "/log", "/tools", "/policy", "/remembered", "/events"] {
        let bare = Ask::new("GET", page).with("Host", &serving.address.to_string());
        let shown = bare.clone().send(serving.address).await.is(401);
        assert!(shown.body.contains("action=\"/sign-in\""), "{shown:?}");
        for token in [CALLER, ALICE] {
            bare.clone().with("Authorization", &format!("Bearer {token}")).send(serving.address).await.is(401);
        }
    }
    let (_, said) = serving.interrupt().await;
    assert!(said.contains("refused a request of 127.0.0.1:"), "{said}");
    assert!(said.contains("the token is not that of an approver") && !said.contains("0123456789"), "{said}");
}

#[tokio::test]
async fn a_token_that_is_removed_signs_its_person_out() {
    let site = site();
    let mut serving = serve(&site, &[]).await;
    let (alice, bob) = (sign_in(&serving, ALICE).await, sign_in(&serving, BOB).await);
    let (head, events) = alice.request("GET", "/events").open(serving.address).await;
    head.is(200);
    put_tokens(&site, &format!("ci: {CALLER}\napprover bob: {BOB}\n"));
    serving.says("reloaded").await;
    let rest = timeout(PATIENCE, read_to_end_of(events)).await.expect("the stream goes on");
    assert!(rest.contains("event: seen"), "{rest}");
    alice.get("/policy").await.is(401);
    bob.get("/policy").await.is(200);
    form(&serving, ALICE).send(serving.address).await.is(403);
}

/// Reads a stream of events to its last chunk, or to the end of the connection. A connection goes on after its last
/// chunk, for the next request.
async fn read_to_end_of(mut stream: tokio::net::TcpStream) -> String {
    use tokio::io::AsyncReadExt as _;
    let (mut bytes, mut block) = (Vec::new(), [0; 4096]);
    while !bytes.ends_with(LAST_CHUNK) {
        match stream.read(&mut block).await.unwrap() {
            0 => break,
            count => bytes.extend_from_slice(&block[..count]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn only_the_servers_own_page_signs_in_and_answers() {
    let site = site();
    let serving = serve(&site, &["--allow-host", "tools.example", "--allow-origin", "https://app.example"]).await;
    let (address, alice) = (serving.address, sign_in(&serving, ALICE).await);
    let own = format!("http://{address}");
    let foreign =
        ["https://app.example", "http://localhost:1", "https://evil.example", "null", "http://tools.example", ""];
    for origin in foreign {
        form(&serving, ALICE).having("Origin", origin).send(address).await.is(403);
        alice.form("/sign-out", &[]).having("Origin", origin).send(address).await.is(403);
        alice.request("GET", "/inbox").with("Origin", origin).send(address).await.is(403);
    }
    form(&serving, ALICE).without("Origin").send(address).await.is(403);
    form(&serving, ALICE).having("Sec-Fetch-Site", "same-site").send(address).await.is(403);
    form(&serving, ALICE)
        .having("Host", "evil.example")
        .having("Origin", "http://evil.example")
        .send(address)
        .await
        .is(403);
    alice.request("GET", "/inbox").having("Host", "evil.example").send(address).await.is(403);
    alice.form("/remembered/revoke", &[("id", "x")]).send(address).await.is(403);
    // Through a proxy that adds TLS, the browser sends the proxy's name and an encrypted origin.
    let proxied = form(&serving, ALICE).having("Host", "tools.example").having("Origin", "https://tools.example");
    let response = proxied.send(address).await.is(303);
    assert!(response.header("Set-Cookie").unwrap().ends_with("; Secure"), "{response:?}");
    // A page of another origin that may call tools gets no page of the console, and the console's origin no tool.
    assert_eq!(alice.request("GET", "/inbox").with("Origin", &own).send(address).await.status, 200);
}

#[tokio::test]
async fn every_page_forbids_scripts_and_frames_beside_the_endpoint() {
    let site = site();
    let serving = serve(&site, &[]).await;
    let alice = sign_in(&serving, ALICE).await;
    let bare = Ask::new("GET", "/inbox").with("Host", &serving.address.to_string()).send(serving.address).await;
    for answer in [bare, alice.get("/policy").await, alice.get("/no-such-page").await] {
        let policy = answer.header("Content-Security-Policy").unwrap();
        assert!(policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("X-Frame-Options"), Some("DENY"));
    }
    let endpoint = serving.call_tool("wrong", "good__run").await.is(401);
    assert_eq!(endpoint.header("Content-Security-Policy"), Some("default-src 'none'; frame-ancestors 'none'"));
}

#[tokio::test]
async fn a_form_from_anyone_has_a_limit() {
    let site = site();
    let serving = serve(&site, &[]).await;
    let long = "x".repeat(portcullis_console::SIGN_IN_BYTES_MAX);
    form(&serving, &long).send(serving.address).await.is(400);
    form(&serving, &long[..long.len() - "token=".len()]).send(serving.address).await.is(403);
}

#[tokio::test]
async fn without_a_token_file_the_state_directory_has_a_token_for_each_role() {
    let site = site();
    let mut serving = Serving::start(&site, &["--console"]).await;
    serving.says("console-token").await;
    let read = |name: &str| fs::read_to_string(site.state().join(name)).unwrap().trim().to_owned();
    let (caller, approver) = (read("mcp-token"), read("console-token"));
    assert_eq!(fs::metadata(site.state().join("console-token")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_ne!(caller, approver);
    form(&serving, &caller).send(serving.address).await.is(403);
    sign_in(&serving, &approver).await;
    serving.call_tool(&approver, "good__run").await.is(401);
}

#[tokio::test]
async fn a_server_without_the_option_has_no_page() {
    let site = site();
    let serving = Serving::start(&site, &["--token-file", "tokens"]).await;
    for page in ["/", "/inbox", "/sign-in", "/console.js"] {
        let answer: Answer =
            Ask::new("GET", page).with("Host", &serving.address.to_string()).send(serving.address).await;
        answer.is(404);
    }
}

#[tokio::test]
async fn a_console_that_no_one_could_use_is_not_served() {
    let site = site();
    put_tokens(&site, &format!("ci: {CALLER}\n"));
    let arguments = ["serve", "--http", "127.0.0.1:0", "--console", "--token-file", "tokens"];
    let output = portcullis(&site, &arguments).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("approver NAME:TOKEN"), "{said}");
}

/// An approver stops everything at once, and only the operator lets it go on.
#[tokio::test]
async fn an_approver_pauses_and_does_not_resume() {
    let site = site();
    // The test repeats a call until the pause is in force, and no approver shall be asked about that.
    let policy = format!("{}[approvals]\nrepeats = 1000000\n", POLICY.replace("\"ask\"", "\"allow\""));
    fs::write(site.path("policy.toml"), policy).unwrap();
    let serving = serve(&site, &[]).await;
    let alice = sign_in(&serving, ALICE).await;
    let call = async || serving.call_tool(CALLER, "good__run").await.is(200).last()["result"].clone();
    assert_ne!(call().await["isError"], json!(true));
    let csrf = alice.get("/live").await.field("csrf");
    alice.post("/pause", &[("csrf", &csrf), ("back", "/live")]).await.is(303);
    let text = fs::read_to_string(site.path("policy.toml")).unwrap();
    assert!(text.starts_with("paused = \"paused by mcp.alice\"\n"), "{text}");
    let paused = async {
        loop {
            let result = call().await;
            if result["_meta"]["portcullis/code"] == json!("paused") {
                return result.to_string();
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let result = timeout(PATIENCE, paused).await.expect("the server goes on");
    assert!(result.contains("paused by mcp.alice"), "{result}");
    let page = alice.get("/resume").await.is(200);
    assert!(page.body.contains("portcullis resume") && !page.body.contains("action=\"/resume\""), "{}", page.body);
    alice.post("/resume", &[("csrf", &csrf), ("policy", "")]).await.is(403);
    assert_eq!(fs::read_to_string(site.path("policy.toml")).unwrap(), text);
    let resumed = portcullis(&site, &["resume", "--yes"]).await;
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
}

/// A stop must not wait for the pages that are open.
#[tokio::test]
async fn an_open_page_does_not_keep_the_server_from_stopping() {
    let site = site();
    let serving = serve(&site, &[]).await;
    let alice = sign_in(&serving, ALICE).await;
    let (head, events) = alice.request("GET", "/events").open(serving.address).await;
    head.is(200);
    let (status, said) = serving.interrupt().await;
    assert!(status.success(), "{said}");
    read_to_end_of(events).await;
}
