//! Tools without a schema: their arguments cannot be validated, so calls are refused or need approval.

use super::desk::Desk;
use portcullis::{Answer, Code, Covers};
use portcullis_providers::Definitions;

const ASK: &str = "[plugin.loose]\nunvalidated = \"ask\"\n";

#[tokio::test]
async fn a_tool_without_a_schema_is_refused_by_default() {
    for policy in ["", "[plugin.loose]\nunvalidated = \"refuse\"\n", "[plugin.shop]\nunvalidated = \"ask\"\n"] {
        let desk = Desk::open(policy).await;
        desk.person.says(Answer::Yes);
        let (call, reply) = desk.chat("loose__run", r#"{"a":1}"#).await;
        assert_eq!(reply.code, Code::NoSchema, "{policy}: {}", reply.message);
        assert_eq!((call.tool.as_str(), &call.provenance.validation), ("loose.run", &None));
        assert!(desk.person.asked().is_empty());
        let offered = Definitions::of_host(&desk.host).unwrap();
        assert!(!offered.names().any(|(name, _)| name == "loose__run"), "the tool must not be offered");
    }
}

#[tokio::test]
async fn an_unvalidated_call_always_needs_approval_and_none_is_remembered() {
    let desk = Desk::open(ASK).await;
    let offered = Definitions::of_host(&desk.host).unwrap();
    assert!(offered.names().any(|(name, _)| name == "loose__run"));
    assert_eq!(desk.chat("loose__run", r#"{"a":1}"#).await.1.code, Code::ApprovalDenied);
    assert!(desk.person.asked()[0].reason.contains("no schema"));
    for answer in [Answer::Always(Covers::Exact), Answer::Session(Covers::Exact), Answer::Yes] {
        desk.person.says(answer);
        for _ in 0..3 {
            assert_eq!(desk.chat("loose__run", r#"{"a":1}"#).await.1.code, Code::Completed);
            assert_eq!(desk.person.asked().len(), 1);
        }
    }
}

/// Without a schema, only the JSON syntax can be repaired.
#[tokio::test]
async fn arguments_without_a_schema_are_only_repaired_as_text() {
    let desk = Desk::open("[plugin.loose]\nunvalidated = \"ask\"\nrepair = \"ask\"\n").await;
    desk.person.says(Answer::Yes);
    let (call, reply) = desk.chat("loose__run", r#"{"a":"1",}"#).await;
    assert_eq!((call.arguments.as_str(), reply.code), (r#"{"a":"1"}"#, Code::Completed));
    assert_eq!((call.provenance.repairs.len(), &call.provenance.validation), (1, &None));
    let (call, reply) = desk.chat("loose__run", "[1,]").await;
    assert_eq!((call.arguments.as_str(), reply.code), ("[1,]", Code::MalformedArguments));
}
