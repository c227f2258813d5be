//! Calls that run or wait while the policy is replaced: a running call keeps its decision, and a call that waits for an
//! approver is decided again.

use crate::reload::desk::{ALLOW, PATIENCE, asks, call, put_bytes, word};
use crate::reload::grants::marks_component;
use crate::reload::policy::{DENY, open, write};
use portcullis::approvals::{OpenQuestion, Status};
use portcullis::{Answer, Code, Host, Reply};
use portcullis_tests::{BlockOn, Manifest, Site, assert_verifies};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Every call needs approval.
pub(crate) const ASK: &str =
    "[approvals]\nrepeats = 1000000\n[limits]\ntime = \"60 s\"\n[defaults]\ndecision = \"ask\"\n";

/// Starts a call that is answered from another channel. Returns when its approval request is open.
pub(crate) async fn waiting(host: &Host, plugin: &'static str) -> (JoinHandle<Reply>, OpenQuestion) {
    let caller = host.clone();
    let request = portcullis::Request::new(format!("{plugin}.run"), r#"{"go":"yes"}"#).answered_elsewhere();
    let running = tokio::spawn(async move { caller.call(request).await });
    let asked = async {
        loop {
            if let Some(question) = host.approvals().list().await.unwrap().questions.pop() {
                return question;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    (running, timeout(PATIENCE, asked).await.unwrap())
}

async fn ended(running: JoinHandle<Reply>) -> Reply {
    timeout(PATIENCE, running).await.unwrap().unwrap()
}

fn status(host: &Host, question: &OpenQuestion) -> Status {
    host.approvals().question(&question.id).block_on().unwrap().status
}

#[tokio::test]
async fn a_running_call_keeps_its_decision() {
    let site = Site::new();
    put_bytes(&site, "tool", &asks("old", &Manifest::of("tool")));
    let host = open(&site, ALLOW).await;
    let (running, question) = waiting(&host, "tool").await;
    write(&site, DENY);
    host.reload().await.unwrap();
    assert_eq!(call(&host, "tool").await.code, Code::PolicyDenied);
    assert!(!running.is_finished());
    host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    assert_eq!(word(ended(running).await), "old");
    assert_verifies(&host);
}

#[tokio::test]
async fn a_request_of_a_running_call_is_decided_again() {
    for (decision, code) in [("allow", Code::Completed), ("deny", Code::Trapped)] {
        let site = Site::new();
        put_bytes(&site, "tool", &asks("old", &Manifest::of("tool")));
        let host = open(&site, ALLOW).await;
        let (running, question) = waiting(&host, "tool").await;
        write(&site, &format!("{ALLOW}[[rule]]\ntool = \"tool.*\"\ndecision = \"{decision}\"\n"));
        host.reload().await.unwrap();
        assert_eq!(ended(running).await.code, code, "{decision}");
        assert_eq!(status(&host, &question), Status::Withdrawn);
        assert_verifies(&host);
    }
}

#[tokio::test]
async fn a_waiting_call_that_the_new_policy_denies_is_refused_immediately() {
    let site = Site::new();
    let host = open(&site, ASK).await;
    let (running, question) = waiting(&host, "good").await;
    write(&site, DENY);
    host.reload().await.unwrap();
    assert_eq!(ended(running).await.code, Code::PolicyDenied);
    assert_eq!(status(&host, &question), Status::Withdrawn);
    assert!(host.approvals().answer(&question.id, &Answer::Yes).await.is_err());
    assert_verifies(&host);
}

#[tokio::test]
async fn a_waiting_call_that_the_new_policy_allows_runs() {
    let site = Site::new();
    let host = open(&site, ASK).await;
    let (running, question) = waiting(&host, "good").await;
    write(&site, ALLOW);
    host.reload().await.unwrap();
    word(ended(running).await);
    assert_eq!(status(&host, &question), Status::Withdrawn);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_waiting_call_that_the_new_policy_still_asks_about_keeps_waiting() {
    let site = Site::new();
    let host = open(&site, ASK).await;
    let (running, question) = waiting(&host, "good").await;
    write(&site, &format!("# the same\n{ASK}"));
    assert!(host.reload().await.unwrap().policy.is_some());
    assert_eq!(status(&host, &question), Status::Pending);
    host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    word(ended(running).await);
    assert_verifies(&host);
}

/// Two calls share a request. The first, which has a shorter timeout, leaves it to the second.
#[tokio::test]
async fn a_call_that_times_out_leaves_its_request_to_the_others() {
    let site = Site::new();
    let host = open(&site, &ASK.replace("[limits]\n", "[limits]\napproval-time = \"4 s\"\n")).await;
    let (first, question) = waiting(&host, "good").await;
    write(&site, ASK);
    assert!(host.reload().await.unwrap().policy.is_some());
    let (caller, request) = (host.clone(), portcullis::Request::new("good.run", r#"{"go":"yes"}"#));
    let second = tokio::spawn(async move { caller.call(request.answered_elsewhere()).await });
    let late = ended(first).await;
    assert!(late.code == Code::ApprovalDenied && late.message.contains("in time"), "{}", late.message);
    assert_eq!(status(&host, &question), Status::Pending);
    host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    word(ended(second).await);
    assert_verifies(&host);
}

/// An approval for one directory must not give access to another.
#[tokio::test]
async fn a_waiting_call_whose_grants_change_is_withdrawn() {
    let site = Site::new();
    for place in ["one", "two"] {
        site.directory(place);
    }
    put_bytes(&site, "marks", &marks_component());
    let grant = |place: &str| {
        format!("{ASK}[plugin.marks]\ndirectory.work = {{ path = \"{place}\", access = \"read-write\" }}\n")
    };
    let host = open(&site, &grant("one")).await;
    let (running, question) = waiting(&host, "marks").await;
    write(&site, &grant("two"));
    host.reload().await.unwrap();
    let reply = ended(running).await;
    assert!(reply.code == Code::ApprovalDenied && reply.message.contains("withdrawn"), "{}", reply.message);
    assert_eq!(status(&host, &question), Status::Withdrawn);
    assert!(!site.path("one/mark").exists() && !site.path("two/mark").exists());
    assert_verifies(&host);
}
