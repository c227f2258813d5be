//! Servers from Python packages.

use crate::loopback::{free_port, wait_for};
use crate::process::{ServerProcess, arguments, command, installed, limits, text, within};
use portcullis_upstream::{ServerCall, ServerClient};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

fn soon() -> ServerCall {
    within(Duration::from_secs(60))
}

async fn connected(module: &str, given: &[&str]) -> (ServerClient, ServerProcess) {
    let mut command = command(installed("PORTCULLIS_TEST_PYTHON_SERVERS"));
    command.args(["-m", module]).args(given);
    if module == "mcp_server_fetch" {
        // With npm, it would install packages into the folder that all tests share.
        command.env("PATH", "/nonexistent");
    }
    let mut server = ServerProcess::start(command);
    let client = server.connect(limits()).await.unwrap();
    assert_eq!(client.identity().protocol, "2026-07-28", "{module}");
    (client, server)
}

#[expect(clippy::disallowed_methods, reason = "a test makes the files that a server reads")]
fn write(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
}

#[tokio::test]
async fn the_git_server_stages_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let created = command("git").args(["init", "--quiet", place]).status().await.unwrap();
    assert!(created.success());
    write(&folder.path().join("note.txt"), "a note\n");
    let (client, _server) = connected("mcp_server_git", &["--repository", place]).await;
    let tools = client.tools().await.unwrap();
    let status = tools.iter().find(|tool| tool.name == "git_status").expect("a tool for the status");
    assert_eq!((status.claims.read_only, status.claims.destructive), (Some(true), Some(false)));
    let call = async |tool: &str, given| text(client.call(tool, arguments(given), soon()).await);
    assert!(call("git_status", json!({"repo_path": place})).await.contains("Untracked files"));
    call("git_add", json!({"repo_path": place, "files": ["note.txt"]})).await;
    assert!(call("git_diff_staged", json!({"repo_path": place})).await.contains("+a note"));
}

#[tokio::test]
async fn the_time_server_converts_between_zones() {
    let (client, _server) = connected("mcp_server_time", &["--local-timezone", "UTC"]).await;
    let given = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let answer = text(client.call("convert_time", arguments(given), soon()).await);
    assert!(answer.contains("T21:00:00"), "{answer}");
    let failed = client.call("get_current_time", arguments(json!({"timezone": "Nowhere/Town"})), soon()).await;
    assert!(failed.unwrap().unwrap_err().text().contains("Nowhere/Town"));
}

#[tokio::test]
async fn the_fetch_server_converts_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = "<html><body><article><h1>A page</h1><p>It has a paragraph of text.</p></article></body></html>";
    write(&folder.path().join("page.html"), page);
    let port = free_port().await;
    let mut site = command("python3");
    site.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string(), "--directory"]).arg(folder.path());
    let _site = ServerProcess::start(site);
    wait_for(port).await;
    let (client, _server) = connected("mcp_server_fetch", &["--ignore-robots-txt", "--allow-private-ips"]).await;
    let given = json!({"url": format!("http://127.0.0.1:{port}/page.html")});
    let answer = text(client.call("fetch", arguments(given), soon()).await);
    assert!(answer.contains("It has a paragraph of text."), "{answer}");
}
