//! Calls of a server's tools take all the steps of a call.

use crate::servers::desk::{ALLOW, Desk, call, definition, policy, tools};
use portcullis::events::EventKind;

use portcullis::{Cancellation, Code, Output, Request};
use portcullis_tests::{assert_verifies, outcome_of};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_call_is_validated_decided_made_and_recorded() {
    let desk = Desk::new(&[]);
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "text": { "type": "string" } },
        "required": ["text"]
    });
    desk.list(&[json!({ "name": "echo", "inputSchema": schema })]);
    let host = desk.allowing().await;
    let reply = call(&host, "echo", json!({ "text": "hello" })).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, "hello"));
    let reply = call(&host, "echo", json!({ "text": 1 })).await;
    assert_eq!(reply.code, Code::InvalidArguments);
    assert_eq!(call(&host, "other", json!({})).await.code, Code::UnknownTool);
    let outcome = outcome_of(&host, &reply.id);
    assert_eq!((&outcome["tool"], &outcome["outcome"]), (&"desk.echo".into(), &"invalid".into()), "{outcome}");
    assert_verifies(&host);
    drop(host);
    let denied = desk.open("", "[[rule]]\ntool = \"desk.*\"\ndecision = \"deny\"\n").await;
    assert_eq!(call(&denied, "echo", json!({ "text": "hello" })).await.code, Code::PolicyDenied);
}

#[tokio::test]
async fn without_a_rule_every_tool_asks() {
    let desk = Desk::new(&["echo"]);
    let host = desk.open("", "").await;
    let reply = call(&host, "echo", json!({ "text": "hello" })).await;
    assert_eq!(reply.code, Code::ApprovalPending, "{}", reply.message);
    let asked = host.approvals().question(&reply.approval_request.unwrap()).await.unwrap();
    let shown = format!("{asked:?}");
    assert!(shown.contains("until the host ends") && shown.contains("no network"), "{shown}");
}

#[tokio::test]
async fn names_become_names_of_the_host_and_the_server_hears_its_own() {
    let desk = Desk::new(&["echo"]);
    desk.list(&[definition("echo", "One."), definition("Do.It", "Two."), definition("do_it", "Three.")]);
    let host = desk.allowing().await;
    assert_eq!(tools(&host), ["do_it", "echo"]);
    let refusal = crate::servers::desk::refusals(&host).join("\n");
    assert!(refusal.contains("another tool has the name do_it"), "{refusal}");
    let reply = call(&host, "do_it", json!({})).await;
    assert_eq!((reply.code, reply.message.contains("no tool Do.It")), (Code::ToolFailed, true), "{}", reply.message);
}

#[tokio::test]
async fn each_way_to_fail_has_its_code() {
    let desk = Desk::new(&["echo", "refuse", "exit", "sleep", "structured"]);
    let host = desk.open("limits = { time = \"1 s\" }", ALLOW).await;
    let reply = call(&host, "refuse", json!({})).await;
    assert_eq!((reply.code, reply.message.contains("unknown project")), (Code::ToolRejectedArguments, true));
    let reply = call(&host, "exit", json!({})).await;
    assert_eq!(reply.code, Code::ToolUnavailable, "{}", reply.message);
    assert!(reply.message.contains("it exited with the code 7"), "{}", reply.message);
    let reply = call(&host, "echo", json!({ "text": "again" })).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, "again"), "the server was started again");
    let reply = call(&host, "sleep", json!({ "ms": 60_000 })).await;
    assert_eq!(reply.code.as_str(), "limit-time", "{}", reply.message);
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_the_server_serves_on() {
    let desk = Desk::new(&["echo", "sleep"]);
    let host = desk.allowing().await;
    let cancellation = Cancellation::new();
    let request = Request::new("desk.sleep", r#"{"ms":2000}"#).cancellation(cancellation.clone());
    let (ended, ()) = tokio::join!(host.call(request), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancellation.cancel();
    });
    assert_eq!(ended.code, Code::Cancelled);
    assert_eq!(call(&host, "echo", json!({ "text": "on" })).await.message, "on");
}

#[tokio::test]
async fn reports_of_a_server_reach_the_caller() {
    let desk = Desk::new(&["progress"]);
    let host = desk.allowing().await;
    let (request, mut events) = Request::new("desk.progress", "{}").watched();
    assert_eq!(host.call(request).await.code, Code::Completed);
    let mut fractions = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Progress(progress) = event.kind {
            fractions.extend(progress.fraction);
        }
    }
    assert!(fractions.contains(&1.0), "{fractions:?}");
}

#[tokio::test]
async fn structured_content_is_checked_against_the_output_schema() {
    let desk = Desk::new(&[]);
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    desk.list(&[json!({ "name": "structured", "inputSchema": { "type": "object" }, "outputSchema": schema })]);
    let host = desk.allowing().await;
    let reply = call(&host, "structured", json!({ "value": { "n": 1 } })).await;
    assert_eq!((reply.code, reply.output), (Code::Completed, Some(Output::Json(r#"{"n":1}"#.to_owned()))));
    let reply = call(&host, "structured", json!({ "value": { "n": "one" } })).await;
    assert_eq!(reply.code.as_str(), "invalid-output", "{}", reply.message);
}

#[tokio::test]
async fn a_tool_has_the_permissions_that_the_policy_gives_it() {
    let desk = Desk::new(&["echo", "write"]);
    let lines = "permissions = [\"read\"]\ntool.write = [\"write\", \"read\"]";
    let rules = "[[rule]]\ntool = \"desk.*\"\npermission = \"read\"\ndecision = \"allow\"\n";
    let host = desk.site.open(&policy(lines, rules)).await;
    assert_eq!(call(&host, "echo", json!({ "text": "yes" })).await.code, Code::Completed);
    let reply = call(&host, "write", json!({ "path": "a", "text": "b" })).await;
    assert_eq!(reply.code, Code::ApprovalPending, "{}", reply.message);
}
