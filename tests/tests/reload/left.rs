//! Approval requests left behind before the policy changes: each is decided again, and withdrawn if the new policy no
//! longer asks for an approval.

use crate::reload::desk::{ALLOW, put_bytes, word};
use crate::reload::grants::marks_component;
use crate::reload::policy::{DENY, entries, open, write};
use crate::reload::waiting::{ASK, waiting};
use portcullis::approvals::{OpenQuestion, Status};
use portcullis::hooks::Hooking;
use portcullis::policy::Unattended;
use portcullis::{Answer, Code, Compiler, Hook, HookCall, Hooked, Host, Request};
use portcullis_tests::{BlockOn, Site, assert_verifies};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Every call needs approval, and one tool has a directory.
fn granting(place: &str) -> String {
    format!("{ASK}[plugin.marks]\ndirectory.work = {{ path = \"{place}\", access = \"read-write\" }}\n")
}

/// A site with the plugin `marks` and two directories.
fn site() -> Site {
    let site = Site::new();
    for place in ["one", "two"] {
        site.directory(place);
    }
    put_bytes(&site, "marks", &marks_component());
    site
}

/// Opens a host whose policy is the site's policy file.
async fn open_file(site: &Site, file: &str) -> Host {
    let builder = Host::builder(site.plugins(), site.state()).compiler(Compiler::InProcess).calls(4);
    builder.policy_file(site.path(file)).open().await.unwrap_or_else(|error| panic!("{error}"))
}

fn request(number: usize) -> Request {
    Request::new("marks.run", format!(r#"{{"go":"yes","n":{number}}}"#))
}

/// Makes three calls that leave requests behind: one unattended, one whose caller stops waiting, and one that is
/// approved afterwards.
async fn leave(host: &Host) -> Vec<String> {
    let patience = Duration::ZERO;
    let requests = [
        request(1).unattended(Unattended::Pending),
        request(2).answered_elsewhere().approval_wait(patience),
        request(3).unattended(Unattended::Pending),
    ];
    let mut left = Vec::new();
    for request in requests {
        let reply = host.call(request).await;
        assert_eq!(reply.code, Code::ApprovalPending, "{}", reply.message);
        left.push(reply.approval_request.unwrap());
    }
    host.approvals().answer(&left[2], &Answer::Yes).await.unwrap();
    left
}

fn question(host: &Host, id: &str) -> OpenQuestion {
    host.approvals().question(id).block_on().unwrap()
}

/// Asserts that every request was withdrawn for this reason, in the ledger and in the audit log, and that no call can
/// run.
async fn are_withdrawn(host: &Host, left: &[String], why: &str) {
    let entries = entries(host, "withdrawn");
    for id in left {
        let question = question(host, id);
        assert_eq!(question.status, Status::Withdrawn, "{why}");
        let note = question.note.unwrap();
        assert!(note.contains("the policy has changed") && note.contains(why), "{note}");
        let entry: Vec<_> = entries.iter().filter(|entry| entry["question"] == **id).collect();
        assert!(entry.len() == 1 && entry[0]["why"] == note && entry[0]["call"] == question.call, "{entries:?}");
        assert!(host.approvals().answer(id, &Answer::Yes).await.is_err());
        assert!(host.resume(id).await.is_err());
    }
    assert!(host.approvals().list().await.unwrap().questions.is_empty());
    assert_verifies(host);
}

/// New policies, and why each of them withdraws a request.
fn changes() -> [(String, &'static str); 4] {
    let rest = granting("one").replacen(ASK, "", 1);
    [
        (format!("{DENY}{rest}"), "the call is denied"),
        (format!("{ALLOW}{rest}"), "the call no longer needs approval"),
        (granting("two"), "/two"),
        (ASK.to_owned(), "no handle"),
    ]
}

#[tokio::test]
async fn a_reload_withdraws_requests_that_the_new_policy_does_not_ask_for() {
    for (policy, why) in changes() {
        let site = site();
        let host = open(&site, &granting("one")).await;
        let left = leave(&host).await;
        write(&site, &policy);
        assert!(host.reload().await.unwrap().policy.is_some());
        are_withdrawn(&host, &left, why).await;
    }
}

#[tokio::test]
async fn a_host_that_opens_with_another_policy_withdraws_earlier_requests() {
    for (policy, why) in changes() {
        let site = site();
        let left = leave(&open(&site, &granting("one")).await).await;
        write(&site, &policy);
        are_withdrawn(&open_file(&site, "policy.toml").await, &left, why).await;
    }
}

#[tokio::test]
async fn a_request_that_the_new_policy_still_asks_for_stays_open_and_can_run() {
    let site = site();
    let host = open(&site, &granting("one")).await;
    let left = leave(&host).await;
    write(&site, &format!("{}[plugin.good]\nclock = \"fine\"\n", granting("one")));
    assert!(host.reload().await.unwrap().policy.is_some());
    drop(host);
    let host = open_file(&site, "policy.toml").await;
    let statuses: Vec<Status> = left.iter().map(|id| question(&host, id).status).collect();
    assert_eq!(statuses, [Status::Pending, Status::Pending, Status::Approved]);
    for id in &left {
        if question(&host, id).status == Status::Pending {
            host.approvals().answer(id, &Answer::Yes).await.unwrap();
        }
        word(host.resume(id).await.unwrap());
    }
    assert_verifies(&host);
}

/// Another server with another policy uses the same state directory.
#[tokio::test]
async fn requests_under_the_policy_of_another_file_are_not_withdrawn() {
    let site = site();
    let host = open(&site, &granting("one")).await;
    let left = leave(&host).await;
    for (number, (policy, _)) in changes().into_iter().enumerate() {
        let other = format!("other{number}.toml");
        std::fs::write(site.path(&other), DENY).unwrap();
        let another = open_file(&site, &other).await;
        std::fs::write(site.path(&other), policy).unwrap();
        assert!(another.reload().await.unwrap().policy.is_some());
    }
    drop(host);
    let host = open_file(&site, "policy.toml").await;
    for id in &left {
        assert!(matches!(question(&host, id).status, Status::Pending | Status::Approved));
    }
}

/// A running process decides its own requests again.
#[tokio::test]
async fn a_request_that_a_call_of_another_host_waits_for_is_not_withdrawn() {
    let site = site();
    let host = open(&site, &granting("one")).await;
    let (running, question) = waiting(&host, "marks").await;
    write(&site, &format!("{DENY}{}", granting("one").replacen(ASK, "", 1)));
    let another = open_file(&site, "policy.toml").await;
    assert_eq!(self::question(&another, &question.id).status, Status::Pending);
    host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    word(running.await.unwrap());
}

/// A plugin that was changed or removed does not concern the policy: an approved call runs when the plugin is restored.
#[tokio::test]
async fn a_request_for_a_removed_plugin_waits_until_the_plugin_is_restored() {
    let site = site();
    let host = open(&site, &granting("one")).await;
    let left = leave(&host).await;
    let file = site.plugins().join("marks.wasm");
    std::fs::rename(&file, site.path("aside.wasm")).unwrap();
    write(&site, &format!("{}# gone\n", granting("one")));
    assert_eq!(host.reload().await.unwrap().removed.len(), 1);
    assert_eq!(question(&host, &left[2]).status, Status::Approved);
    std::fs::rename(site.path("aside.wasm"), file).unwrap();
    host.reload().await.unwrap();
    word(host.resume(&left[2]).await.unwrap());
}

/// A description file is part of the definition to which an approval is bound. It does not concern the policy.
#[tokio::test]
async fn a_request_for_a_tool_with_a_changed_description_is_checked_when_it_runs() {
    let site = site();
    let host = open(&site, &granting("one")).await;
    let left = leave(&host).await;
    std::fs::write(site.plugins().join("marks.run.md"), "Another text.").unwrap();
    write(&site, &format!("{}# the same\n", granting("one")));
    host.reload().await.unwrap();
    assert_eq!(question(&host, &left[0]).status, Status::Pending);
    let reply = host.resume(&left[2]).await.unwrap();
    assert!(reply.code == Code::ApprovalDenied && reply.message.contains("definition"), "{}", reply.message);
}

/// Reloads the policy between the decision about a call and its approval request.
struct Reloads {
    host: OnceLock<Host>,
    site: Arc<Site>,
    policy: String,
}

impl Hook for Reloads {
    fn before<'a>(&'a self, _: &'a HookCall<'a>) -> Hooking<'a> {
        Box::pin(async {
            write(&self.site, &self.policy);
            self.host.get().unwrap().reload().await.unwrap();
            Hooked::pass()
        })
    }
}

#[tokio::test]
async fn a_request_that_is_created_just_after_a_reload_is_decided_again() {
    let codes = [Code::PolicyDenied, Code::Completed, Code::ApprovalDenied, Code::ApprovalDenied];
    for ((policy, _), code) in changes().into_iter().zip(codes) {
        let site = Arc::new(site());
        write(&site, &granting("one"));
        let hook = Arc::new(Reloads { host: OnceLock::new(), site: Arc::clone(&site), policy });
        let builder = Host::builder(site.plugins(), site.state()).compiler(Compiler::InProcess).calls(4);
        let builder = builder.policy_file(site.path("policy.toml")).hook(Arc::clone(&hook) as _);
        let host = builder.open().await.unwrap();
        assert!(hook.host.set(host.clone()).is_ok());
        let reply = host.call(request(1).unattended(Unattended::Pending)).await;
        assert_eq!(reply.code, code, "{}", reply.message);
        assert!(host.approvals().list().await.unwrap().questions.is_empty());
        assert_verifies(&host);
    }
}
