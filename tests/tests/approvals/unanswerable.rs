//! If no answer could let a call run, the host creates no approval request. It refuses the call with the reason, and
//! `explain` agrees.

use crate::approvals::desk::{ALLOW, ASK, Desk, open, policy};
use crate::approvals::middle::ASKS;
use crate::approvals::people::Person;
use portcullis::hooks::Hooking;
use portcullis::{Answer, Code, Hook, HookCall, Hooked, Outlook, Reply, Request};
use portcullis_tests::{Manifest, component, guest, module};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Binds the directory of two plugins: one must write, and one writes if it can.
fn grants(access: &str) -> String {
    let directory = format!("directory.work = {{ path = \"work\", access = \"{access}\" }}\n");
    policy(ASK) + &format!("[plugin.writer]\n{directory}[plugin.either]\n{directory}")
}

fn desk() -> Desk {
    let writer = Manifest::of("writer").directory("work", false).tool(|tool| tool.required = 2);
    let either = Manifest::of("either").directory("work", false).tool(|tool| tool.optional = 2);
    Desk::new().with(&writer).with(&either)
}

#[tokio::test]
async fn a_write_under_a_read_only_grant_is_refused_without_a_request() {
    let desk = desk();
    let person = Person::who_says(Answer::Yes);
    for (access, tool, code) in [
        ("read-only", "writer.run", Code::DependencyNotGranted),
        ("read-only", "either.run", Code::Completed),
        ("read-write", "writer.run", Code::Completed),
    ] {
        let host = desk.approved_by(&grants(access), &person).await;
        let explained = host.explain(Request::new(tool, "{}")).await.unwrap();
        let reply = host.call(Request::new(tool, "{}")).await;
        assert_eq!(reply.code, code, "{access} {tool}: {}", reply.message);
        let refused = code != Code::Completed;
        assert_eq!(person.asked().len(), usize::from(!refused), "{access} {tool}");
        assert_eq!(matches!(explained.outlook, Outlook::Refuse { .. }), refused, "{access} {tool}: {explained:?}");
        if refused {
            assert!(reply.message.contains("`work` read-only"), "{}", reply.message);
            assert_eq!(explained.outlook, Outlook::Refuse { code, message: reply.message });
        }
    }
    // Without any grant.
    let host = desk.approved_by(&policy(ASK), &person).await;
    let reply = host.call(Request::new("writer.run", "{}")).await;
    assert_eq!((reply.code, person.asked().len()), (Code::DependencyNotGranted, 0), "{}", reply.message);
    desk.verifies();
}

/// Counts the calls that it sees before they run.
#[derive(Default)]
struct Counts(AtomicUsize);

impl Hook for Counts {
    fn before<'a>(&'a self, _: &'a HookCall<'a>) -> Hooking<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Hooked::pass() })
    }

    fn after<'a>(&'a self, _: &'a HookCall<'a>, _: &'a Reply) -> Hooking<'a> {
        Box::pin(async { Hooked::pass() })
    }
}

/// Neither a review nor a hook runs before the refusal.
#[tokio::test]
async fn an_unanswerable_call_is_refused_before_its_hooks() {
    let desk = desk();
    for (access, seen) in [("read-only", 0), ("read-write", 1)] {
        let counts = Arc::new(Counts::default());
        let host = open(desk.site.builder(&grants(access)).hook(Arc::clone(&counts) as Arc<dyn Hook>)).await;
        host.call(Request::new("writer.run", "{}")).await;
        assert_eq!(counts.0.load(Ordering::SeqCst), seen, "{access}");
    }
}

/// The policy allows the call, but the plugin's reviewer asks for an approval.
#[tokio::test]
async fn a_review_does_not_ask_if_no_approval_could_help() {
    let desk = Desk::new();
    let manifest = Manifest::of("careful").directory("work", false).tool(|tool| tool.required = 2);
    desk.site.plugin("careful", &guest("review-asks", &manifest));
    for (access, code, questions) in [("read-only", Code::DependencyNotGranted, 0), ("read-write", Code::Completed, 1)]
    {
        let grant = format!("[plugin.careful]\ndirectory.work = {{ path = \"work\", access = \"{access}\" }}\n");
        let person = Person::who_says(Answer::Yes);
        let host = desk.approved_by(&(policy(ALLOW) + &grant), &person).await;
        let reply = host.call(Request::new("careful.run", "{}")).await;
        assert_eq!((reply.code, person.asked().len()), (code, questions), "{access}: {}", reply.message);
    }
}

/// Without an approver, no request is left behind.
#[tokio::test]
async fn an_unanswerable_call_leaves_no_request() {
    let desk = desk();
    let host = desk.unattended(&grants("read-only")).await;
    let reply = host.call(Request::new("writer.run", "{}")).await;
    assert_eq!(reply.code, Code::DependencyNotGranted, "{}", reply.message);
    assert!(host.approvals().list().await.unwrap().questions.is_empty());
}

/// The call itself is allowed. While it runs, its tool asks whether it may write.
#[tokio::test]
async fn a_running_calls_write_under_a_read_only_grant_needs_no_request() {
    let desk = Desk::new();
    let manifest = Manifest::of("asks").directory("work", false).tool(|tool| tool.required = 2);
    desk.site.plugin("asks", &component(&module(ASKS, &manifest)));
    let rules = "[defaults]\ndecision = \"ask\"\n[[rule]]\ntool = \"asks.*\"\nwhen = { k = \"y\" }\n\
                 decision = \"allow\"\n";
    for (access, code, questions) in [("read-only", Code::ToolDenied, 0), ("read-write", Code::Completed, 1)] {
        let grant = format!("[plugin.asks]\ndirectory.work = {{ path = \"work\", access = \"{access}\" }}\n");
        let person = Person::who_says(Answer::Yes);
        let host = open(desk.site.builder(&(policy(rules) + &grant)).approver(person.clone())).await;
        let reply = host.call(Request::new("asks.run", r#"{"k":"y","p":"src/a"}"#)).await;
        assert_eq!(reply.code, code, "{access}: {}", reply.message);
        assert_eq!(person.asked().len(), questions, "{access}");
    }
}
