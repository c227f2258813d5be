//! When a server is started, and started again.

use crate::servers::desk::{ALLOW, Desk, PROGRAM, call, policy, refusals, tools};
use portcullis::Code;
use portcullis_tests::{Manifest, guest};
use serde_json::json;
use std::fs;

#[tokio::test]
async fn one_process_serves_all_calls() {
    let desk = Desk::new(&["process"]);
    let host = desk.allowing().await;
    let first = call(&host, "process", json!({})).await.message;
    assert_eq!(call(&host, "process", json!({})).await.message, first);
}

#[tokio::test]
async fn a_server_that_fails_is_refused_with_what_it_printed() {
    let desk = Desk::new(&["echo"]);
    let policy = format!("[server.desk]\ncommand = [{PROGRAM:?}, \"fail\"]\n{ALLOW}");
    let host = desk.site.open(&policy).await;
    assert_eq!(tools(&host), [""; 0]);
    let why = refusals(&host).join("\n");
    assert!(why.contains("it exited with the code 3") && why.contains("the token is missing"), "{why}");
    let reply = call(&host, "echo", json!({})).await;
    assert_eq!(reply.code, Code::PluginRefused, "{}", reply.message);
}

#[tokio::test]
async fn a_server_that_ends_at_the_first_request_of_the_modern_era_is_started_for_the_era_before_it() {
    let desk = Desk::new(&["echo"]);
    let directory = "directory.work = { path = \"work\", access = \"read-write\" }";
    let policy = format!("[server.desk]\ncommand = [{PROGRAM:?}, \"old\"]\n{directory}\n{ALLOW}");
    let host = desk.site.open(&policy).await;
    assert_eq!(call(&host, "echo", json!({ "text": "hello" })).await.message, "hello");
}

#[tokio::test]
async fn a_program_that_is_no_server_is_refused() {
    let desk = Desk::new(&["echo"]);
    let host = desk.site.open(&format!("[server.desk]\ncommand = [\"/bin/true\"]\n{ALLOW}")).await;
    let why = refusals(&host).join("\n");
    assert!(why.contains("it exited with the code 0"), "{why}");
}

#[tokio::test]
async fn a_server_is_added_changed_and_removed_with_the_policy() {
    let desk = Desk::new(&["process", "environment"]);
    let file = desk.site.path("policy.toml");
    fs::write(&file, ALLOW).unwrap();
    let builder = portcullis::Host::builder(desk.site.plugins(), desk.site.state());
    let builder = builder.compiler(portcullis::Compiler::InProcess).policy_file(&file);
    let host = builder.open().await.unwrap();
    assert_eq!(tools(&host), [""; 0]);
    fs::write(&file, policy("", ALLOW)).unwrap();
    host.reload().await.unwrap();
    assert_eq!(tools(&host), ["environment", "process"]);
    let first = call(&host, "process", json!({})).await.message;
    // What does not concern the server does not end it.
    fs::write(&file, policy("", &format!("{ALLOW}[limits]\ntime = \"20 s\"\n"))).unwrap();
    host.reload().await.unwrap();
    assert_eq!(call(&host, "process", json!({})).await.message, first);
    fs::write(&file, policy("environment = { NEW = \"yes\" }", ALLOW)).unwrap();
    host.reload().await.unwrap();
    assert!(call(&host, "environment", json!({})).await.message.contains("NEW=yes"));
    fs::write(&file, ALLOW).unwrap();
    host.reload().await.unwrap();
    assert_eq!(tools(&host), [""; 0]);
    assert_eq!(call(&host, "process", json!({})).await.code, Code::UnknownTool);
}

#[tokio::test]
async fn a_server_is_no_longer_refused_once_its_earlier_command_is_back() {
    let desk = Desk::new(&["echo"]);
    let file = desk.site.path("policy.toml");
    let works = policy("", ALLOW);
    fs::write(&file, &works).unwrap();
    let builder = portcullis::Host::builder(desk.site.plugins(), desk.site.state());
    let builder = builder.compiler(portcullis::Compiler::InProcess).policy_file(&file);
    let host = builder.open().await.unwrap();
    fs::write(&file, works.replace(&format!("[{PROGRAM:?}]"), &format!("[{PROGRAM:?}, \"fail\"]"))).unwrap();
    host.reload().await.unwrap();
    assert!(refusals(&host).join("\n").contains("the token is missing"), "{:?}", refusals(&host));
    fs::write(&file, &works).unwrap();
    assert_eq!(host.reload().await.unwrap().cleared, ["server.desk"]);
    assert_eq!(refusals(&host), [""; 0]);
    assert_eq!(call(&host, "echo", json!({ "text": "on" })).await.message, "on");
}

#[tokio::test]
async fn a_server_cannot_have_the_name_of_the_hosts_own_tools() {
    let desk = Desk::new(&["read"]);
    let policy = policy("", ALLOW).replace("[server.desk]", "[server.output]");
    let error = desk.site.builder(&policy).open().await.unwrap_err();
    assert!(error.to_string().contains("the key `server` of the plugin `output`"), "{error}");
}

#[tokio::test]
async fn a_file_with_the_name_of_a_server_is_refused() {
    let desk = Desk::new(&["echo"]);
    desk.site.plugin("desk", &guest("good", &Manifest::of("desk")));
    let host = desk.allowing().await;
    assert_eq!(tools(&host), ["echo"]);
    let reason = host
        .catalog()
        .refused()
        .iter()
        .find(|refused| refused.file == "desk.wasm")
        .map(|refused| refused.error.to_string());
    assert!(reason.unwrap().contains("the policy names a server of the same name"));
    assert!(host.reload().await.is_ok());
    assert_eq!(tools(&host), ["echo"]);
}
