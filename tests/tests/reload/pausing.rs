//! A policy that is paused while a host runs: every new call is refused with a code of its own, and approval requests
//! stay open.

use crate::reload::desk::{ALLOW, call, put, put_bytes, says, word};
use crate::reload::policy::{entries, open, write};
use crate::reload::waiting::{ASK, waiting};
use portcullis::approvals::Status;
use portcullis::{Answer, Code, Outcome, Outlook, Request};
use portcullis_tests::{BlockOn, Manifest, Site, assert_verifies};

/// The first line of a paused policy.
const PAUSED: &str = "paused = \"looking at a strange call\"\n";

#[tokio::test]
async fn a_paused_policy_refuses_every_call_until_it_is_resumed() {
    let site = Site::new();
    put(&site, "tool", "one");
    let host = open(&site, ALLOW).await;
    assert_eq!(call(&host, "tool").await.code, Code::Completed);
    write(&site, &format!("{PAUSED}{ALLOW}"));
    host.reload().await.unwrap();
    let refused = call(&host, "tool").await;
    assert_eq!((refused.code, refused.outcome(), refused.code.as_str()), (Code::Paused, Outcome::Denied, "paused"));
    assert!(refused.message.contains("looking at a strange call"), "{}", refused.message);
    assert!(refused.message.contains("portcullis resume"), "{}", refused.message);
    let explained = host.explain(Request::new("tool.run", r#"{"go":"yes"}"#)).await.unwrap();
    assert!(matches!(explained.outlook, Outlook::Refuse { code: Code::Paused, .. }));
    assert!(explained.explanation.changes.iter().any(|change| change.contains("portcullis resume")));
    write(&site, ALLOW);
    host.reload().await.unwrap();
    assert_eq!(word(call(&host, "tool").await), "one");
    let changed: Vec<String> = entries(&host, "policy").iter().map(|entry| entry["changed"].to_string()).collect();
    assert_eq!(changed.iter().filter(|changed| changed.contains("pause")).count(), 2, "{changed:?}");
    assert_verifies(&host);
}

#[tokio::test]
async fn the_host_s_own_tools_are_paused_too() {
    let site = Site::new();
    let host = open(&site, &format!("{PAUSED}{ALLOW}")).await;
    let reply = host.call(Request::new("done.done", r#"{"result":"x"}"#)).await;
    assert_eq!(reply.code, Code::Paused, "{}", reply.message);
}

#[tokio::test]
async fn a_waiting_request_stays_open_while_the_policy_is_paused() {
    let site = Site::new();
    put_bytes(&site, "tool", &says("old", &Manifest::of("tool")));
    let host = open(&site, ASK).await;
    let (running, question) = waiting(&host, "tool").await;
    write(&site, &format!("{PAUSED}{ASK}"));
    host.reload().await.unwrap();
    assert_eq!(host.approvals().question(&question.id).block_on().unwrap().status, Status::Pending);
    assert!(!running.is_finished());
    write(&site, ASK);
    host.reload().await.unwrap();
    host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    assert_eq!(word(running.await.unwrap()), "old");
    assert_verifies(&host);
}

#[tokio::test]
async fn a_call_that_is_approved_during_a_pause_does_not_run() {
    let site = Site::new();
    put_bytes(&site, "tool", &says("old", &Manifest::of("tool")));
    let host = open(&site, ASK).await;
    let (running, question) = waiting(&host, "tool").await;
    write(&site, &format!("{PAUSED}{ASK}"));
    host.reload().await.unwrap();
    host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    assert_eq!(running.await.unwrap().code, Code::Paused);
    assert_verifies(&host);
}
