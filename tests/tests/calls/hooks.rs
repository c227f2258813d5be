//! Hooks: they can refuse, ask an approver and add notes, and nothing else. A hook that fails counts as a refusal.

use crate::calls::desk::{Desk, heard};
use portcullis::approvals::Scripted;
use portcullis::hooks::{HOOK_NOTES_MAX, HOOK_TIME_MAX, Hooking};
use portcullis::policy::{Unattended, Variation};
use portcullis::{Answer, Code, Covers, Hook, HookCall, Hooked, Host, Outcome, Reply, Request};
use portcullis_tests::{BlockOn, assert_verifies, outcome_of};
use serde_json::Value;
use std::future::{pending, ready};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A hook made of functions, which records its calls.
struct Made {
    before: fn() -> Hooked,
    after: fn(&Reply) -> Hooked,
    seen: Mutex<Vec<String>>,
}

impl Made {
    fn new(before: fn() -> Hooked, after: fn(&Reply) -> Hooked) -> Arc<Self> {
        Arc::new(Self { before, after, seen: Mutex::default() })
    }

    fn before(before: fn() -> Hooked) -> Arc<Self> {
        Self::new(before, |_| Hooked::pass())
    }

    fn after(after: fn(&Reply) -> Hooked) -> Arc<Self> {
        Self::new(Hooked::pass, after)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn see(&self, stage: &str, call: &HookCall<'_>) {
        self.seen.lock().unwrap().push(format!("{stage} {} {}", call.tool, call.arguments));
    }
}

impl Hook for Made {
    fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
        self.see("before", call);
        Box::pin(async { (self.before)() })
    }

    fn after<'a>(&'a self, call: &'a HookCall<'a>, reply: &'a Reply) -> Hooking<'a> {
        self.see("after", call);
        Box::pin(async { (self.after)(reply) })
    }
}

async fn open(desk: &Desk, hooks: &[Arc<dyn Hook>]) -> Host {
    let builder = hooks.iter().fold(desk.builder(), |builder, hook| builder.hook(Arc::clone(hook)));
    builder.open().await.unwrap()
}

/// Returns the audit entries about hooks.
fn lines(host: &Host) -> Vec<Value> {
    let mut lines = Vec::new();
    let read = host
        .audit()
        .read(|entry| {
            if entry.document["kind"] == "hook" {
                lines.push(entry.document);
            }
            Ok(())
        })
        .block_on();
    assert_eq!(read.unwrap().fault, None);
    lines
}

#[tokio::test]
async fn a_refusal_denies_before_an_approval_request() {
    let desk = Desk::new().with_asked();
    let hook = Made::before(|| Hooked::refuse("not on\u{1b}[2J a Sunday").note("day", "7"));
    let person = Scripted::new([Answer::Yes]);
    let host = desk.builder().hook(Arc::clone(&hook) as _).approver(Arc::new(person.clone())).open().await.unwrap();
    let mut events = host.events();
    let reply = host.call(Request::new("asked.run", "{}")).await;
    assert_eq!((reply.code, reply.outcome()), (Code::HookRefused, Outcome::Denied));
    assert!(reply.message.contains("not on\\u{1b}[2J a Sunday"), "{}", reply.message);
    assert!(person.asked().is_empty());
    assert_eq!(heard(&mut events), ["pending", "denied"]);
    assert_eq!(Desk::kinds(&host, &reply.id), ["decision", "hook", "outcome"]);
    let line = &lines(&host)[0];
    assert_eq!((&line["stage"], &line["answer"]), (&"before".into(), &"refuse".into()));
    assert_eq!(line["notes"], serde_json::json!([["day", "7"]]));
    assert_eq!(outcome_of(&host, &reply.id)["code"], "hook-refused");
}

/// A hook that passes cannot allow a call. It is not consulted about calls that are refused anyway.
#[tokio::test]
async fn a_hook_that_passes_allows_nothing() {
    let desk = Desk::new().with("review-refuses").with_denied().with_asked();
    let hook = Made::new(Hooked::pass, |_| Hooked::pass());
    let host = open(&desk, &[Arc::clone(&hook) as _]).await;
    for (tool, code) in [
        ("no.run", Code::PolicyDenied),
        ("review-refuses.run", Code::ReviewRefused),
        ("nothing.run", Code::UnknownTool),
        ("refused.run", Code::PluginRefused),
    ] {
        assert_eq!(host.call(Request::new(tool, "{}")).await.code, code);
    }
    assert!(hook.seen().is_empty(), "{:?}", hook.seen());
    assert_eq!(host.call(Request::new("asked.run", "{}")).await.outcome(), Outcome::Pending);
    assert_eq!(hook.seen(), ["before asked.run {}"], "a call that did not run has no result");
    assert!(lines(&host).is_empty(), "a passing hook must add no entry");
}

#[tokio::test]
async fn a_hook_sees_the_call_before_and_after_it_runs() {
    let desk = Desk::new().with("failure-injection");
    let hook = Made::after(|reply| Hooked::pass().note("code", reply.code.as_str()));
    let host = open(&desk, &[Arc::clone(&hook) as _]).await;
    let good = host.call(Request::new("good.run", r#"{ "b": 1.0, "a": 2 }"#)).await;
    assert_eq!(good.code, Code::Completed);
    assert_eq!(host.call(Request::new("failure-injection.run", "{}")).await.code, Code::ToolFailed);
    let arguments = r#"{"a":2,"b":1}"#;
    let seen = ["before failure-injection.run {}".to_owned(), "after failure-injection.run {}".to_owned()];
    assert_eq!(hook.seen()[..2], [format!("before good.run {arguments}"), format!("after good.run {arguments}")]);
    assert_eq!(hook.seen()[2..], seen);
    let codes: Vec<Value> = lines(&host).into_iter().map(|line| line["notes"][0][1].clone()).collect();
    assert_eq!(codes, ["completed", "tool-failed"]);
    assert_eq!(Desk::kinds(&host, &good.id), ["decision", "hook", "outcome"]);
}

#[tokio::test]
async fn a_refusal_after_the_call_withholds_the_result() {
    let desk = Desk::new();
    let hook = Made::after(|reply| {
        assert!(reply.output.is_some());
        Hooked::refuse("it holds a key")
    });
    let host = open(&desk, &[hook as _]).await;
    let reply = host.call(Request::new("good.run", r#"{"word":"canary"}"#)).await;
    assert_eq!((reply.code, reply.outcome()), (Code::HookRefused, Outcome::Denied));
    assert!(reply.output.is_none() && reply.title.is_none() && reply.metadata.is_none());
    assert!(!reply.message.contains("canary") && reply.message.contains("it holds a key"), "{}", reply.message);
    assert!(reply.usage.run.wall > std::time::Duration::ZERO, "the reply must contain the tool's usage");
    assert_eq!(Desk::kinds(&host, &reply.id), ["decision", "hook", "outcome"]);
    assert_eq!(outcome_of(&host, &reply.id)["outcome"], "denied");
}

#[tokio::test]
async fn the_first_refusal_wins() {
    let desk = Desk::new();
    let passes = Made::before(|| Hooked::pass().note("a", "b"));
    let refuses = Made::before(|| Hooked::refuse("no"));
    let last = Made::before(Hooked::pass);
    let host = open(&desk, &[Arc::clone(&passes) as _, Arc::clone(&refuses) as _, Arc::clone(&last) as _]).await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::HookRefused);
    assert_eq!((passes.seen().len(), refuses.seen().len(), last.seen().len()), (1, 1, 0));
    let numbers: Vec<Value> = lines(&host).into_iter().map(|line| line["hook"].clone()).collect();
    assert_eq!(numbers, [1, 2]);
}

/// A hook can neither flood the audit log nor write an entry that is too long.
#[tokio::test]
async fn notes_have_limits() {
    let desk = Desk::new();
    let hook = Made::before(|| {
        let evil = "\u{1b}".repeat(1 << 16);
        (0..100).fold(Hooked::refuse(&evil), |hooked, _| hooked.note(&evil, &evil))
    });
    let host = open(&desk, &[hook as _]).await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::HookRefused, "{}", reply.message);
    let line = &lines(&host)[0];
    assert_eq!(line["notes"].as_array().unwrap().len(), HOOK_NOTES_MAX);
    assert_eq!(line["notes_dropped"], 100 - HOOK_NOTES_MAX);
    assert!(line.to_string().len() < 128 << 10);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_hook_that_panics_refuses_and_the_host_keeps_running() {
    struct Panics;
    impl Hook for Panics {
        fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
            match call.session {
                "at once" => panic!("at once"),
                "later" => Box::pin(async {
                    tokio::task::yield_now().await;
                    panic!("later")
                }),
                _ => Box::pin(ready(Hooked::pass())),
            }
        }

        fn after<'a>(&'a self, call: &'a HookCall<'a>, _: &'a Reply) -> Hooking<'a> {
            match call.session {
                "after" => panic!("after"),
                _ => Box::pin(ready(Hooked::pass())),
            }
        }
    }
    let desk = Desk::new();
    let host = open(&desk, &[Arc::new(Panics) as _]).await;
    for session in ["at once", "later", "after"] {
        let reply = host.call(Request::new("good.run", "{}").session(session)).await;
        assert_eq!(reply.code, Code::HookRefused);
        assert!(reply.output.is_none() && !reply.message.contains(session), "{}", reply.message);
        let outcome = outcome_of(&host, &reply.id);
        assert!(outcome["detail"].as_str().unwrap().contains(session), "{outcome}");
    }
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_hook_that_times_out_refuses() {
    struct Never;
    impl Hook for Never {
        fn before<'a>(&'a self, _: &'a HookCall<'a>) -> Hooking<'a> {
            Box::pin(pending())
        }
    }
    let desk = Desk::new();
    let host = open(&desk, &[Arc::new(Never) as _]).await;
    let began = Instant::now();
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::HookRefused);
    assert!(began.elapsed() >= HOOK_TIME_MAX);
    assert!(outcome_of(&host, &reply.id)["detail"].as_str().unwrap().contains("longer than"));
}

/// A hook's verdict has no effect before it is recorded. If the entry cannot be written, the call is denied, even after
/// a pass.
#[tokio::test]
async fn a_hook_whose_verdict_cannot_be_recorded_denies() {
    struct Thief(std::path::PathBuf);
    impl Hook for Thief {
        fn before<'a>(&'a self, _: &'a HookCall<'a>) -> Hooking<'a> {
            std::fs::remove_file(&self.0).unwrap();
            Box::pin(ready(Hooked::pass().note("record", "gone")))
        }
    }
    let desk = Desk::new();
    let thief = Thief(desk.site.state().join("audit.jsonl"));
    let host = open(&desk, &[Arc::new(thief) as _]).await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::RecordUnavailable);
    assert!(reply.output.is_none());
}

/// Opens a host with this hook and an approver, under a policy that asks about `asked.run` and allows `good.run`.
async fn asking(desk: &Desk, hooks: &[Arc<Made>], answers: impl IntoIterator<Item = Answer>) -> (Host, Scripted) {
    let person = Scripted::new(answers);
    let builder = hooks.iter().fold(desk.builder(), |builder, hook| builder.hook(Arc::clone(hook) as _));
    (builder.approver(Arc::new(person.clone())).open().await.unwrap(), person)
}

#[tokio::test]
async fn a_hook_can_require_an_approval_for_an_allowed_call() {
    let desk = Desk::new();
    let hook = Made::before(|| Hooked::ask("look\u{1b}[2J").note("day", "7"));
    let (host, person) = asking(&desk, &[hook], [Answer::Yes, Answer::No { note: None }]).await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert_eq!(person.asked()[0].reason, "A hook of this host asks: look\\u{1b}[2J");
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::ApprovalDenied);
    let line = &lines(&host)[0];
    assert_eq!((&line["answer"], &line["reason"]), (&"ask".into(), &"look\u{1b}[2J".into()));
    assert_verifies(&host);
}

#[tokio::test]
async fn a_hook_that_asks_lifts_no_refusal_and_needs_an_approver() {
    let desk = Desk::new().with_denied();
    let hooks = [Made::before(|| Hooked::ask("look")), Made::before(|| Hooked::refuse("no"))];
    let (host, person) = asking(&desk, &hooks, [Answer::Yes]).await;
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::HookRefused);
    assert_eq!(host.call(Request::new("no.run", "{}")).await.code, Code::PolicyDenied);
    assert!(person.asked().is_empty());
    let host = open(&desk, &[Made::before(|| Hooked::ask("look"))].map(|hook| hook as _)).await;
    let request = || Request::new("good.run", "{}");
    assert_eq!(host.call(request().unattended(Unattended::Deny)).await.code, Code::ApprovalDenied);
    assert_eq!(host.call(request().unattended(Unattended::Pending)).await.code, Code::ApprovalPending);
}

/// After the tool has run, an approval request makes no sense.
#[tokio::test]
async fn asking_after_the_call_withholds_the_result() {
    let desk = Desk::new();
    let (host, person) = asking(&desk, &[Made::after(|_| Hooked::ask("look"))], [Answer::Yes]).await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!((reply.code, reply.output), (Code::HookRefused, None));
    assert!(person.asked().is_empty());
}

#[tokio::test]
async fn a_remembered_approval_answers_a_hook_by_its_text_or_its_pattern() {
    let desk = Desk::new();
    let hook = Made::before(|| {
        let any_a = [Variation { argument: "a".to_owned(), within: None }];
        Hooked::ask("look").proposing(any_a).proposing([])
    });
    let session = |covers| Answer::Session(covers);
    let answers = [session(Covers::Exact), session(Covers::Offer(0)), Answer::No { note: None }];
    let (host, person) = asking(&desk, &[hook], answers).await;
    let call = async |arguments: &str| host.call(Request::new("good.run", arguments)).await.code;
    assert_eq!(call(r#"{"a":1,"b":1}"#).await, Code::Completed);
    assert_eq!(call(r#"{"a":1,"b":1}"#).await, Code::Completed, "the same text must not ask again");
    assert_eq!(person.asked().len(), 1);
    assert_eq!(person.asked()[0].offers, ["any a, b = 1 (proposed by hook 1 of this host, only for its own question)"]);
    assert_eq!(call(r#"{"a":2,"b":1}"#).await, Code::Completed);
    assert_eq!(call(r#"{"a":3,"b":1}"#).await, Code::Completed, "the pattern must cover the call");
    assert_eq!(person.asked().len(), 2);
    assert_eq!(call(r#"{"a":3,"b":2}"#).await, Code::ApprovalDenied);
    assert_eq!(person.asked().len(), 3);
}
