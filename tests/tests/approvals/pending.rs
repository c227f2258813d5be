//! Calls that stay pending without an approver, and run later: once, and only if they have not changed. P02, P05, P24.

use crate::approvals::desk::{
    ALLOW, ASK, Desk, GRANT, alone, left_behind, mark, marks, marks_manifest, numbered, open, policy,
};
use crate::approvals::desk::{policy_with, question_in};
use crate::approvals::people::no;
use portcullis::approvals::Status;
use portcullis::approvals::{ApprovalError, DenyAll, Onward};
use portcullis::events::{CallState, EventKind};
use portcullis::hooks::Hooking;
use portcullis::policy::Unattended;
use portcullis::{Answer, Cancellation, Code, Covers, Hook, HookCall, Hooked, Host, Outcome};
use portcullis::{Reply, Request};
use portcullis_tests::{Manifest, guest};
use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;

async fn approved(host: &Host, request: Request) -> String {
    let id = left_behind(host, request).await;
    assert_eq!(host.approvals().answer(&id, &Answer::Yes).await.unwrap(), Onward::Here);
    id
}

fn refused(outcome: &Result<Reply, ApprovalError>) -> bool {
    match outcome {
        Ok(reply) => reply.code == Code::ApprovalDenied,
        Err(_) => true,
    }
}

#[tokio::test]
async fn a_pending_call_runs_once_when_it_is_approved() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let reply = host.call(mark(1)).await;
    assert_eq!((reply.code, reply.outcome()), (Code::ApprovalPending, Outcome::Pending));
    let id = question_in(&reply);
    assert!(matches!(host.resume(&id).await, Err(ApprovalError::Settled(Status::Pending))), "it is not approved yet");
    assert!(desk.marks().is_empty());
    drop(host);
    // The approver answers in a second process. A third one runs the call.
    assert_eq!(desk.approvals().answer(&id, &Answer::Yes).await.unwrap(), Onward::Here);
    let host = desk.headless().await;
    let resumed = host.resume(&id).await.unwrap();
    assert_eq!((resumed.code, resumed.message.as_str()), (Code::Completed, r#"{"n":1}"#));
    assert_eq!(resumed.id, reply.id, "the resumed call must have the same ID");
    assert_eq!(desk.marks()[&numbered(1)], 1);
    for _ in 0..3 {
        assert!(matches!(host.resume(&id).await, Err(ApprovalError::Settled(Status::Done))));
        assert!(matches!(host.approvals().answer(&id, &Answer::Yes).await, Err(ApprovalError::Settled(Status::Done))));
    }
    assert_eq!(desk.marks()[&numbered(1)], 1);
    assert_eq!(desk.outcomes(&reply.id), ["pending", "completed"]);
    desk.verifies();
}

/// A resumed call can be cancelled like any other. Its approval is still used up.
#[tokio::test]
async fn a_resumed_call_is_cancelled_and_does_not_run_again() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let id = approved(&host, Request::new("stays.run", numbered(1))).await;
    let (mut events, cancellation) = (host.events(), Cancellation::new());
    let cancel = async {
        while let Some(event) = events.next().await {
            if matches!(event.kind, EventKind::State(CallState::Running)) {
                return cancellation.cancel();
            }
        }
    };
    let (reply, ()) = tokio::join!(host.resume_until(&id, cancellation.clone()), cancel);
    assert_eq!(reply.unwrap().code, Code::Cancelled);
    assert!(matches!(host.resume(&id).await, Err(ApprovalError::Settled(Status::Done))));
    desk.verifies();
}

/// The arguments are stored while the request is open, and then erased from the disk, including deleted pages.
#[tokio::test]
async fn no_arguments_remain_on_the_disk_after_a_request_is_settled() {
    const PAYLOAD: &str = "quod-non-est-in-actis-non-est-in-mundo";
    let desk = Desk::new();
    let host = desk.headless().await;
    let on_disk = || {
        let files = ["ledger.sqlite", "ledger.sqlite-wal", "audit.jsonl"].map(|name| desk.site.state().join(name));
        let texts = files.iter().filter_map(|file| fs::read(file).ok());
        texts.map(|text| String::from_utf8_lossy(&text).into_owned()).any(|text| text.contains(PAYLOAD))
    };
    let arguments = |number| format!(r#"{{"n":{number},"text":"{}"}}"#, PAYLOAD.repeat(200));
    let rejected = left_behind(&host, Request::new("good.run", arguments(1))).await;
    let ran = approved(&host, Request::new("good.run", arguments(2))).await;
    assert!(on_disk());
    host.approvals().answer(&rejected, &no()).await.unwrap();
    assert_eq!(host.resume(&ran).await.unwrap().code, Code::Completed);
    // The last connection that closes removes the write-ahead log.
    drop(host);
    assert!(!on_disk());
}

#[tokio::test]
async fn a_denied_or_revoked_call_never_runs() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let rejected = left_behind(&host, mark(1)).await;
    assert_eq!(host.approvals().answer(&rejected, &no()).await.unwrap(), Onward::Ended);
    let revoked = approved(&host, mark(2)).await;
    host.approvals().revoke(&revoked).await.unwrap();
    for id in [&rejected, &revoked] {
        assert!(matches!(host.resume(id).await, Err(ApprovalError::Settled(Status::Rejected))));
        assert!(matches!(
            host.approvals().answer(id, &Answer::Yes).await,
            Err(ApprovalError::Settled(Status::Rejected))
        ));
    }
    assert!(desk.marks().is_empty());
    desk.verifies();
}

/// Without a channel, the policy decides. An embedder's setting overrides the policy.
#[tokio::test]
async fn a_request_without_an_approver_ends_as_the_policy_says() {
    let lines = |unattended: &str| policy_with(&format!("unattended = \"{unattended}\""), GRANT, ASK);
    let desk = Desk::new();
    let code = async |host: Host| host.call(mark(1)).await.code;
    let builder = |unattended| desk.site.builder(&lines(unattended));
    assert_eq!(code(open(desk.site.builder(&policy(ASK))).await).await, Code::ApprovalPending);
    assert_eq!(code(open(builder("pending")).await).await, Code::ApprovalPending);
    assert_eq!(code(open(builder("deny")).await).await, Code::ApprovalDenied);
    assert_eq!(code(open(builder("deny").unattended(Unattended::Pending)).await).await, Code::ApprovalPending);
    assert_eq!(code(open(builder("pending").unattended(Unattended::Deny)).await).await, Code::ApprovalDenied);
    assert_eq!(code(open(builder("pending").approver(Arc::new(DenyAll))).await).await, Code::ApprovalDenied);
    assert!(desk.marks().is_empty());
}

/// Changes between the request and the run, and what the error says.
type Change = (&'static str, fn(&Desk) -> String, &'static str);

const CHANGES: [Change; 4] = [
    ("the plugin", |desk| rebuilt(desk, |_| ()), "plugin changed"),
    (
        "the definition",
        |desk| rebuilt(desk, |manifest| manifest.tools[0].description.push_str(" Better.")),
        "definition changed",
    ),
    ("the grant", |_| policy_with("repeats = 9", r#"{ path = "elsewhere", access = "read-write" }"#, ASK), "elsewhere"),
    ("less of a grant", |_| policy_with("repeats = 9", r#"{ path = "work", access = "read-only" }"#, ASK), "read-only"),
];

fn rebuilt(desk: &Desk, change: fn(&mut Manifest)) -> String {
    let mut manifest = Manifest { version: "2.0.0".to_owned(), ..marks_manifest("marks") };
    change(&mut manifest);
    desk.site.plugin("marks", &marks(&manifest));
    policy(ASK)
}

#[tokio::test]
async fn a_call_that_has_changed_since_its_request_does_not_run() {
    for (what, change, says) in CHANGES {
        let desk = Desk::new();
        desk.site.directory("elsewhere");
        let id = approved(&desk.headless().await, mark(1)).await;
        let policy = change(&desk);
        let host = desk.unattended(&policy).await;
        let reply = host.resume(&id).await.unwrap();
        assert_eq!(reply.code, Code::ApprovalDenied, "{what}");
        assert!(reply.message.contains(says), "{what}: {}", reply.message);
        // It does not run either when the old state is restored.
        assert!(matches!(host.resume(&id).await, Err(ApprovalError::Settled(Status::Withdrawn))), "{what}");
        drop(host);
        desk.site.plugin("marks", &marks(&marks_manifest("marks")));
        assert!(refused(&desk.headless().await.resume(&id).await), "{what}");
        assert!(desk.marks().is_empty() && fs::read_dir(desk.site.path("elsewhere")).unwrap().next().is_none());
        desk.verifies();
    }
}

/// A call that the policy now denies does not run, despite its approval. A call that needs no approval any more runs.
#[tokio::test]
async fn the_current_policy_overrides_an_earlier_approval() {
    let desk = Desk::new();
    let (denied, allowed) = {
        let host = desk.headless().await;
        (approved(&host, mark(1)).await, approved(&host, mark(2)).await)
    };
    let host = desk.unattended(&policy("[[rule]]\ntool = \"marks.*\"\ndecision = \"deny\"\n")).await;
    assert_eq!(host.resume(&denied).await.unwrap().code, Code::PolicyDenied);
    drop(host);
    assert!(desk.marks().is_empty());
    let host = desk.unattended(&policy(ALLOW)).await;
    assert_eq!(host.resume(&allowed).await.unwrap().code, Code::Completed);
    assert!(refused(&host.resume(&allowed).await));
    assert_eq!(desk.marks()[&numbered(2)], 1);
}

/// The tool or its plugin has been removed.
#[tokio::test]
async fn a_tool_that_was_removed_does_not_run() {
    let desk = Desk::new().with(&Manifest::of("going"));
    let id = approved(&desk.headless().await, Request::new("going.run", "{}")).await;
    fs::remove_file(desk.site.plugins().join("going.wasm")).unwrap();
    assert_eq!(desk.headless().await.resume(&id).await.unwrap().code, Code::UnknownTool);
    desk.site.plugin("going", b"no component");
    assert_eq!(desk.headless().await.resume(&id).await.unwrap().code, Code::PluginRefused);
    // The approval was not used: when the plugin is restored, the call runs.
    desk.site.plugin("going", &guest("good", &Manifest::of("going")));
    assert_eq!(desk.headless().await.resume(&id).await.unwrap().code, Code::Completed);
}

/// A hook can also refuse an approved call.
struct Refuses;

impl Hook for Refuses {
    fn before<'a>(&'a self, _: &'a HookCall<'a>) -> Hooking<'a> {
        Box::pin(std::future::ready(Hooked::refuse("not today")))
    }
}

#[tokio::test]
async fn a_hook_can_refuse_a_resumed_call() {
    let desk = Desk::new();
    let id = approved(&desk.headless().await, mark(1)).await;
    let host = open(desk.site.builder(&policy(ASK)).unattended(Unattended::Pending).hook(Arc::new(Refuses))).await;
    assert_eq!(host.resume(&id).await.unwrap().code, Code::HookRefused);
    assert!(desk.marks().is_empty());
}

/// A remembered approval that is given to a pending call covers later calls, whether or not that call runs.
#[tokio::test]
async fn an_approval_for_always_is_valid_even_if_its_call_never_ran() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let id = left_behind(&host, mark(1)).await;
    host.approvals().answer(&id, &Answer::Always(Covers::Exact)).await.unwrap();
    assert_eq!(host.call(mark(1)).await.code, Code::Completed);
    assert_eq!(host.resume(&id).await.unwrap().code, Code::Completed, "its own approval must still be unused");
    assert_eq!(desk.marks()[&numbered(1)], 2);
    assert!(refused(&host.resume(&id).await));
}

/// Many threads on two hosts resume one call.
#[test]
fn only_one_of_many_threads_resumes_a_call() {
    const THREADS: usize = 64;
    let desk = Desk::new();
    let hosts = [alone(desk.headless()), alone(desk.headless())];
    for round in 0..3 {
        let id = alone(approved(&hosts[0], mark(round)));
        let barrier = Barrier::new(THREADS);
        let resume = |number: usize| {
            barrier.wait();
            alone(hosts[number % 2].resume(&id))
        };
        let outcomes: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || resume(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let ran = outcomes.iter().filter(|outcome| !refused(outcome)).count();
        assert_eq!(ran, 1, "{outcomes:?}");
        assert_eq!(desk.marks()[&numbered(round)], 1);
    }
    desk.verifies();
}

/// Only the request's principal may decide about it. The host itself is not bound to a principal.
#[tokio::test]
async fn a_resumed_call_runs_for_the_principal_of_its_request() {
    struct Saw(std::sync::Mutex<Vec<(String, String)>>);
    impl Hook for Saw {
        fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
            self.0.lock().unwrap().push((call.session.to_owned(), call.principal.to_owned()));
            Box::pin(std::future::ready(Hooked::pass()))
        }
    }
    let desk = Desk::new();
    let saw = Arc::new(Saw(std::sync::Mutex::default()));
    let builder = desk.site.builder(&policy(ASK)).unattended(Unattended::Pending).hook(Arc::clone(&saw) as _);
    let host = open(builder).await;
    let request = mark(1).session("monday").principal("alice/helper".parse().unwrap()).automated();
    let id = approved(&host, request).await;
    assert_eq!(host.resume(&id).await.unwrap().code, Code::Completed);
    let seen = saw.0.lock().unwrap().clone();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|seen| *seen == ("monday".to_owned(), "alice/helper".to_owned())), "{seen:?}");
}
