//! The toolset of a caller also bounds the calls that its tool makes.

use crate::composition::desk::{ALLOW, Desk, EVERY_TOOL, relays, wanted};
use portcullis::approvals::Answer;
use portcullis::policy::Unattended;
use portcullis::{Code, Request};
use serde_json::json;

const ASK_RELAY: &str = "[[rule]]\ntool = \"{marks,good}.*\"\ndecision = \"allow\"\n\
                         [[rule]]\ntool = \"relay.*\"\ndecision = \"ask\"\n";

const RELAY_AND_GOOD: &str = "[toolset.some]\ntools = [\"{relay,good}.*\"]\n";

#[tokio::test]
async fn a_tool_reaches_no_tool_outside_the_toolset_of_its_caller() {
    let desk = Desk::new();
    let host = desk.open(&format!("{ALLOW}{RELAY_AND_GOOD}"), EVERY_TOOL).await;
    let mark = || relays(&[wanted("marks.run", &json!({ "path": "a" }))]);
    host.call(mark().toolset("some")).await;
    assert!(desk.marks().is_empty(), "the inner call ran outside of the toolset");
    let listed = host.call(Request::new("relay.list", "{}").toolset("some")).await.message;
    assert!(listed.contains("good.run") && !listed.contains("marks.run"), "{listed}");
    let direct = host.call(Request::new("marks.run", "{}").toolset("some")).await;
    assert_eq!(direct.code, Code::UnknownTool);
    assert!(!direct.message.contains("include: marks") && !direct.message.contains(", marks"), "{}", direct.message);
    let unknown = host.call(Request::new("good.run", "{}").toolset("gone")).await;
    assert_eq!(unknown.code, Code::UnknownTool, "a toolset that does not exist offers nothing");
    assert!(!unknown.message.contains("include: good"), "{}", unknown.message);
}

/// The request of a call that waits for an approver keeps the toolset of its caller.
#[tokio::test]
async fn a_call_that_is_approved_later_still_has_its_toolset() {
    let desk = Desk::new();
    let host = desk.open(&format!("{ASK_RELAY}{RELAY_AND_GOOD}"), EVERY_TOOL).await;
    let call = relays(&[wanted("marks.run", &json!({ "path": "a" })), wanted("good.run", &json!({}))]);
    let left = host.call(call.toolset("some").unattended(Unattended::Pending)).await;
    let request = left.approval_request.unwrap();
    host.approvals().answer(&request, &Answer::Yes).await.unwrap();
    let resumed = host.resume(&request).await.unwrap();
    assert_eq!(resumed.code, Code::Completed, "{}", resumed.message);
    let answers: serde_json::Value = serde_json::from_str(&resumed.message).unwrap();
    assert!(answers[0]["failed"].as_str().or(answers[0]["invalid"].as_str()).is_some(), "{answers}");
    assert!(desk.marks().is_empty(), "the inner call ran outside of the toolset");
}
