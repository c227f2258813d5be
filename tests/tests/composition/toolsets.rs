//! The toolset of a caller also bounds the calls that its tool makes.

use crate::composition::desk::{ALLOW, Desk, EVERY_TOOL, relays, wanted};
use portcullis::Request;
use serde_json::json;

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
    assert_eq!(direct.code, portcullis::Code::UnknownTool);
    assert!(!direct.message.contains("include: marks") && !direct.message.contains(", marks"), "{}", direct.message);
    let unknown = host.call(Request::new("good.run", "{}").toolset("gone")).await;
    assert_eq!(unknown.code, portcullis::Code::UnknownTool, "a toolset that does not exist offers nothing");
}
