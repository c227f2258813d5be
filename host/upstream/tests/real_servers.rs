//! Servers that others wrote.

use crate::process::{ServerProcess, arguments, command, installed, limits, text, within};
use portcullis_definitions::manifest::{Output, Part};
use portcullis_upstream::{CloseReason, ServerCall, ServerError, ServerProgress};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const EVERYTHING: &str = "@modelcontextprotocol/server-everything";

fn soon() -> ServerCall {
    within(Duration::from_secs(30))
}

#[tokio::test]
async fn the_everything_server_introduces_itself_and_lists_its_tools() {
    let mut server = ServerProcess::node(EVERYTHING, &[]);
    let client = server.connect(limits()).await.unwrap();
    assert_eq!(client.identity().name.as_deref(), Some("mcp-servers/everything"));
    assert_eq!(client.identity().protocol, "2025-11-25");
    assert!(client.identity().instructions.is_some());
    let tools = client.tools().await.unwrap();
    let echo = tools.iter().find(|tool| tool.name == "echo").expect("a tool echo");
    assert_eq!(echo.input_schema["required"], json!(["message"]));
    let structured = tools.iter().find(|tool| tool.name == "get-structured-content").unwrap();
    assert_eq!(structured.output_schema.as_ref().unwrap()["type"], "object");
    assert_eq!(text(client.call("echo", arguments(json!({"message": "hello"})), soon()).await), "Echo: hello");
    client.shutdown().await;
    assert!(matches!(client.closed().await, CloseReason::Shutdown));
    assert!(matches!(client.tools().await, Err(ServerError::Closed(CloseReason::Shutdown))));
    server.errors().await;
}

#[tokio::test]
async fn every_kind_of_content_is_converted() {
    let mut server = ServerProcess::node(EVERYTHING, &[]);
    let client = server.connect(limits()).await.unwrap();
    let call = async |tool: &str, given: Value, call: ServerCall| {
        client.call(tool, arguments(given), call).await.unwrap().unwrap().output
    };
    let Output::Parts(parts) = call("get-tiny-image", json!({}), soon()).await else { panic!("no parts") };
    let image = parts.iter().find_map(|part| match part {
        Part::Image(image) => Some(image),
        Part::Text(_) | Part::File(_) => None,
    });
    let image = image.expect("an image");
    assert_eq!((image.media_type.as_str(), &image.data[1..4]), ("image/png", b"PNG".as_slice()));

    let json = ServerCall { has_output_schema: true, ..soon() };
    let Output::Json(structured) = call("get-structured-content", json!({"location": "Chicago"}), json).await else {
        panic!("no JSON")
    };
    assert!(serde_json::from_str::<Value>(&structured).unwrap()["temperature"].is_number());

    let Output::Parts(parts) = call("get-resource-links", json!({"count": 2}), soon()).await else {
        panic!("no parts")
    };
    assert!(parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains("demo://"))), "{parts:?}");

    let reference = json!({"resourceType": "Text", "resourceId": 1});
    let Output::Parts(parts) = call("get-resource-reference", reference, soon()).await else { panic!("no parts") };
    let file = parts.iter().find_map(|part| match part {
        Part::File(file) => Some(file),
        Part::Text(_) | Part::Image(_) => None,
    });
    // The last part of `demo://resource/dynamic/text/1`.
    assert_eq!(file.expect("a file").name.as_deref(), Some("1"));
}

#[tokio::test]
async fn wrong_arguments_are_a_failure_of_the_tool() {
    let mut server = ServerProcess::node(EVERYTHING, &[]);
    let client = server.connect(limits()).await.unwrap();
    let answer = client.call("echo", Map::new(), soon()).await;
    match answer {
        Ok(Err(failure)) => assert!(failure.text().contains("message"), "{failure:?}"),
        Err(ServerError::Refused { message, .. }) => assert!(message.contains("message"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn progress_is_reported_while_a_call_runs() {
    let mut server = ServerProcess::node(EVERYTHING, &[]);
    let client = server.connect(limits()).await.unwrap();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&reports);
    let listener = Box::new(move |progress: ServerProgress| {
        heard.lock().unwrap().push((progress.progress, progress.total));
    });
    let call = ServerCall { on_progress: Some(listener), ..soon() };
    let given = arguments(json!({"duration": 1, "steps": 4}));
    text(client.call("trigger-long-running-operation", given, call).await);
    let reports = reports.lock().unwrap();
    assert!(reports.len() >= 2, "{reports:?}");
    assert!(reports.iter().all(|(_, total)| *total == Some(4.0)), "{reports:?}");
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once() {
    let mut server = ServerProcess::node(EVERYTHING, &[]);
    let client = server.connect(limits()).await.unwrap();
    let call = soon();
    let cancellation = call.cancellation.clone();
    let given = arguments(json!({"duration": 60, "steps": 5}));
    let begun = std::time::Instant::now();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancellation.cancel();
    };
    let (answer, ()) = tokio::join!(client.call("trigger-long-running-operation", given, call), stop);
    assert!(matches!(answer, Err(ServerError::Cancelled)), "{answer:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(text(client.call("echo", arguments(json!({"message": "still"})), soon()).await), "Echo: still");
}

/// Starts a server of an npm package with a variable, such as the place of its file.
fn node_with(package: &str, variable: &str, value: &Path) -> ServerProcess {
    let script = installed("PORTCULLIS_TEST_SERVER_MODULES").join(package).join("dist/index.js");
    let mut command = command(installed("PORTCULLIS_TEST_NODE"));
    command.arg(script).env(variable, value);
    ServerProcess::start(command)
}

#[tokio::test]
async fn the_memory_server_keeps_what_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("memory.jsonl");
    let mut server = node_with("@modelcontextprotocol/server-memory", "MEMORY_FILE_PATH", &place);
    let client = server.connect(limits()).await.unwrap();
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["writes programs"]});
    let created = client.call("create_entities", arguments(json!({"entities": [entity]})), soon()).await;
    assert!(created.unwrap().is_ok());
    let call = ServerCall { has_output_schema: true, ..soon() };
    let graph = client.call("read_graph", Map::new(), call).await.unwrap().unwrap();
    let Output::Json(graph) = graph.output else { panic!("{graph:?}") };
    assert_eq!(serde_json::from_str::<Value>(&graph).unwrap()["entities"][0]["name"], "Ada");
}

#[tokio::test]
async fn the_sequential_thinking_server_counts_thoughts() {
    let mut server = ServerProcess::node("@modelcontextprotocol/server-sequential-thinking", &[]);
    let client = server.connect(limits()).await.unwrap();
    let tool = client.tools().await.unwrap().remove(0);
    let thought = json!({"thought": "first", "nextThoughtNeeded": true, "thoughtNumber": 1, "totalThoughts": 2});
    let answer = client.call(&tool.name, arguments(thought), soon()).await;
    assert!(text(answer).contains("\"thoughtHistoryLength\": 1"));
}

#[tokio::test]
async fn the_filesystem_server_reads_a_file_and_refuses_another() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    write_file(&root, "note.txt", "a note");
    let root_argument = root.to_str().unwrap().to_owned();
    let mut server = ServerProcess::node("@modelcontextprotocol/server-filesystem", &[&root_argument]);
    let client = server.connect(limits()).await.unwrap();
    let tools = client.tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "write_file" && tool.claims.read_only != Some(true)));
    let read = async |path: &str| client.call("read_text_file", arguments(json!({"path": path})), soon()).await;
    assert_eq!(text(read(&format!("{root_argument}/note.txt")).await), "a note");
    let refused = read("/etc/hostname").await.unwrap().unwrap_err();
    assert!(refused.text().contains("outside allowed directories"), "{refused:?}");
}

#[expect(clippy::disallowed_methods, reason = "a test makes the files that a server reads")]
fn write_file(folder: &Path, name: &str, text: &str) {
    std::fs::create_dir(folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}
