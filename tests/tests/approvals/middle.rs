//! Approval requests of running calls use the same ledger: they are remembered, revoked, denied without an approver,
//! and bound to the resource.

use crate::approvals::desk::{ALLOW, Desk, policy};
use crate::approvals::people::{Person, no};
use portcullis::approvals::Subject;
use portcullis::policy::Unattended;
use portcullis::{Answer, Code, Covers, Host, Question, Request};
use portcullis_tests::{Manifest, component, module};
use serde_json::json;
use std::sync::Arc;

/// Asks to write the resource in its arguments, and fails if that is denied.
pub(crate) const ASKS: &str = r#"
(import "portcullis:tool/context@0.1.0" "ask" (func $ask (param i32 i32 i32 i32 i32 i32 i32)))
(data (i32.const 2048) "write")
(func $execute (param i32 i32 i32 i32) (result i32)
  ;; {"k":"y","p":"..."}: the text between the last quotes.
  (call $ask (i32.const 2048) (i32.const 5)
    (i32.add (local.get 2) (i32.const 14)) (i32.sub (local.get 3) (i32.const 16))
    (i32.const 2048) (i32.const 5) (i32.const 3072))
  (if (i32.load8_u (i32.const 3072))
    (then (return (call $fail (i32.const 1) (i32.load (i32.const 3076)) (i32.load (i32.const 3080))))))
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
"#;

/// The same for arguments of the form `{"resource":"..."}`.
pub(crate) fn asking_for_its_argument(guest: &str) -> String {
    guest.replace("(i32.const 14)", "(i32.const 13)").replace("(i32.const 16)", "(i32.const 15)")
}

/// Allows the call. What it asks for while it runs needs approval.
pub(crate) const RESOURCE_RULES: &str = "[defaults]\ndecision = \"ask\"\n\
    [[rule]]\ntool = \"asks.*\"\nwhen = { resource = \"x\" }\ndecision = \"allow\"\n";

/// Allows every call with this argument. A request of a running call has no arguments, so the default applies to it.
const RULES: &str = "[defaults]\ndecision = \"ask\"\n\
    [[rule]]\ntool = \"asks.*\"\nwhen = { k = \"y\" }\ndecision = \"allow\"\n";

fn desk() -> Desk {
    let desk = Desk::new();
    let manifest = Manifest::of("asks").tool(|tool| tool.required = 2);
    desk.site.plugin("asks", &component(&module(ASKS, &manifest)));
    desk
}

fn request(resource: &str) -> Request {
    Request::new("asks.run", json!({ "k": "y", "p": resource }).to_string())
}

async fn asking(desk: &Desk, person: &Arc<Person>) -> Host {
    desk.approved_by(&policy(RULES), person).await
}

/// Returns those of the approver's requests that are about a resource.
fn about_resources(asked: Vec<Question>) -> Vec<Question> {
    asked.into_iter().filter(|question| matches!(question.subject, Subject::Resource { .. })).collect()
}

#[tokio::test]
async fn a_running_call_continues_after_an_approval_and_gets_a_denial_as_an_error() {
    let desk = desk();
    let person = Person::who_says(Answer::Yes);
    let host = asking(&desk, &person).await;
    let reply = host.call(request("src/a")).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let asked = about_resources(person.asked());
    assert_eq!(asked.len(), 1);
    let Subject::Resource { permission, resource, .. } = &asked[0].subject else { panic!("{asked:?}") };
    assert_eq!((permission.as_str(), resource.as_str()), ("write", "src/a"));
    assert!(asked[0].is_in_the_middle());
    person.says(Answer::No { note: Some("not there\u{1b}".to_owned()) });
    let reply = host.call(request("src/a")).await;
    assert_eq!(reply.code, Code::ToolDenied);
    assert!(reply.message.contains("not there") && !reply.message.contains('\u{1b}'), "{}", reply.message);
    desk.verifies();
}

#[tokio::test]
async fn an_approval_for_a_resource_is_remembered_and_revoked() {
    let desk = desk();
    let person = Person::who_says(no());
    let host = asking(&desk, &person).await;
    assert_eq!(host.call(request("src/lib/a")).await.code, Code::ToolDenied);
    let asked = about_resources(person.asked());
    let place = asked[0].offers.iter().position(|offer| offer.contains("src/**"));
    person.says(Answer::Always(Covers::Offer(place.unwrap_or_else(|| panic!("{:?}", asked[0].offers)))));
    assert_eq!(host.call(request("src/lib/a")).await.code, Code::Completed);
    person.asked();
    person.says(no());
    for (number, (resource, code)) in [
        ("src/lib/a", Code::Completed),
        ("src/b", Code::Completed),
        ("Cargo.toml", Code::ToolDenied),
        ("src/../Cargo.toml", Code::ToolDenied),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = host.call(request(resource).session(&number.to_string())).await;
        assert_eq!(reply.code, code, "{resource}: {}", reply.message);
        assert_eq!(about_resources(person.asked()).len(), usize::from(code != Code::Completed), "{resource}");
    }
    let held = &host.approvals().list().await.unwrap().answers[0];
    assert_eq!(held.uses, 2);
    host.approvals().revoke(&held.id).await.unwrap();
    assert_eq!(host.call(request("src/b").session("after")).await.code, Code::ToolDenied);
    assert_eq!(about_resources(person.asked()).len(), 1);
    desk.verifies();
}

/// An approval for a resource does not cover a call with the same arguments, and vice versa.
#[tokio::test]
async fn an_approval_for_a_resource_does_not_cover_a_call() {
    let desk = desk();
    let manifest = Manifest::of("asks").tool(|tool| tool.required = 2);
    desk.site.plugin("asks", &component(&module(&asking_for_its_argument(ASKS), &manifest)));
    let person = Person::who_says(Answer::Always(Covers::Exact));
    let host = desk.asking(&person).await;
    let request = || Request::new("asks.run", r#"{"resource":"x"}"#);
    assert_eq!(host.call(request()).await.code, Code::Completed);
    let asked = person.asked();
    assert_eq!(asked.len(), 2, "one for the call, one while it runs: {asked:?}");
    assert!(matches!(&asked[1].subject, Subject::Resource { resource, .. } if resource == "x"), "{asked:?}");
    person.says(no());
    for held in host.approvals().list().await.unwrap().answers {
        if held.question == asked[0].id {
            host.approvals().revoke(&held.id).await.unwrap();
        }
    }
    assert_eq!(host.call(request()).await.code, Code::ApprovalDenied, "only the resource is still approved");
    assert_eq!(person.asked().len(), 1);
}

#[tokio::test]
async fn without_an_approver_a_running_calls_request_is_denied() {
    for unattended in [Unattended::Pending, Unattended::Deny] {
        let desk = desk();
        let host = crate::approvals::desk::open(desk.site.builder(&policy(RULES)).unattended(unattended)).await;
        let reply = host.call(request("src/a")).await;
        assert_eq!(reply.code, Code::ToolDenied, "{unattended:?}: {}", reply.message);
        assert!(reply.message.contains("no approver is connected"), "{}", reply.message);
        assert!(host.approvals().list_all().await.unwrap().questions.is_empty(), "nothing stays behind");
        desk.verifies();
    }
}

/// A permission that the tool does not declare is refused without an approval request.
#[tokio::test]
async fn an_undeclared_permission_is_refused_without_a_request() {
    let desk = desk();
    let manifest = Manifest::of("asks").tool(|tool| tool.required = 1);
    desk.site.plugin("asks", &component(&module(ASKS, &manifest)));
    let person = Person::who_says(Answer::Yes);
    let host = desk.approved_by(&policy(ALLOW), &person).await;
    let reply = host.call(request("src/a")).await;
    assert_eq!(reply.code, Code::ToolDenied);
    assert!(reply.message.contains("does not declare"), "{}", reply.message);
    assert_eq!(person.asked(), []);
}
