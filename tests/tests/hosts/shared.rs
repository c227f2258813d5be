//! What one host begins, another continues.

use super::fleet::{DATABASE, Fleet};
use crate::approvals::child::Order;
use crate::approvals::desk::{Desk, left_behind, mark, numbered, open};
use portcullis::approvals::{ApprovalError, Onward, OpenQuestion, Status};
use portcullis::policy::Unattended;
use portcullis::state::{PostgresAddress, StatePlace};
use portcullis::text::WithCauses;
use portcullis::{Answer, Approvals, Code, Covers, open_approvals};
use portcullis_tests::{BlockOn, eventually, eventually_async};
use portcullis_tests_postgres::{Server, is_installed};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_on_one_host_is_answered_on_another() {
    let Some(fleet) = Fleet::new() else { return };
    let first = Arc::new(open(fleet.builder(1).answered_elsewhere()).await);
    let second = open(fleet.builder(2).answered_elsewhere()).await;
    let waiting = tokio::spawn({
        let first = Arc::clone(&first);
        async move { first.call(mark(1)).await.code }
    });
    let asked = || second.approvals().list().block_on().unwrap().questions.pop();
    let question = eventually_async("the request", asked).await;
    assert!(question.waited_for, "the other host waits for it");
    let answered = second.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    assert_eq!(answered, Onward::There);
    assert_eq!(waiting.await.unwrap(), Code::Completed);
    assert_eq!(fleet.marks(), BTreeMap::from([(numbered(1), 1)]));
    let kinds = |host: usize| -> Vec<String> {
        let entries = fleet.record(host).into_iter().filter(|entry| entry["call"] == question.call.as_str());
        entries.map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (kinds(1), kinds(2)),
        (["decision", "asked", "outcome"].map(String::from).into(), vec!["answer".into()])
    );
}

/// The runtime drops the waiting call on one of its own threads, which must not wait for the database.
#[test]
fn a_request_is_withdrawn_when_the_runtime_of_its_host_shuts_down() {
    let Some(fleet) = Fleet::new() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let host = Arc::new(runtime.block_on(async { open(fleet.builder(1).answered_elsewhere()).await }));
    runtime.spawn({
        let host = Arc::clone(&host);
        async move { host.call(mark(1)).await.code }
    });
    let approvals = fleet.approvals(2);
    let question = eventually("the request", || approvals.list().block_on().unwrap().questions.pop());
    drop(runtime);
    let status = || approvals.question(&question.id).block_on().unwrap().status;
    eventually("the end of the request", || (status() == Status::Withdrawn).then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_call_of_one_host_runs_once_whichever_hosts_resume_it() {
    let Some(fleet) = Fleet::new() else { return };
    let id = left_behind(&open(fleet.builder(1).unattended(Unattended::Pending)).await, mark(1)).await;
    let mut hosts = Vec::new();
    for host in 2..6 {
        hosts.push(Arc::new(open(fleet.builder(host).unattended(Unattended::Pending)).await));
    }
    hosts[0].approvals().answer(&id, &Answer::Yes).await.unwrap();
    let mut resumed = tokio::task::JoinSet::new();
    for host in &hosts {
        let (host, id) = (Arc::clone(host), id.clone());
        resumed.spawn(async move { host.resume(&id).await.map(|reply| reply.code) });
    }
    let ended = resumed.join_all().await;
    assert_eq!(ended.iter().filter(|code| matches!(code, Ok(Code::Completed))).count(), 1, "{ended:?}");
    assert_eq!(fleet.marks(), BTreeMap::from([(numbered(1), 1)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remembered_approval_counts_on_every_host_until_one_revokes_it() {
    let Some(fleet) = Fleet::new() else { return };
    let first = open(fleet.builder(1).unattended(Unattended::Pending)).await;
    let second = open(fleet.builder(2).unattended(Unattended::Pending)).await;
    let id = left_behind(&first, mark(1)).await;
    first.approvals().answer(&id, &Answer::Always(Covers::Exact)).await.unwrap();
    assert_eq!(second.resume(&id).await.unwrap().code, Code::Completed);
    assert_eq!(second.call(mark(1)).await.code, Code::Completed);
    let held = second.approvals().list().await.unwrap().answers.remove(0);
    first.approvals().revoke(&held.id).await.unwrap();
    assert_eq!(second.call(mark(1)).await.code, Code::ApprovalPending);
}

#[test]
fn a_dead_host_is_noticed_when_its_lease_ends() {
    let Some(fleet) = Fleet::new() else { return };
    let mut child = fleet.start(1, Order::AskElsewhere, "2");
    child.until("asked");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let second = Arc::new(runtime.block_on(async { open(fleet.builder(2).answered_elsewhere()).await }));
    child.kill();
    let mut questions = second.approvals().list().block_on().unwrap().questions;
    questions.sort_by_key(|open| open.question.as_ref().unwrap().arguments.clone());
    let [question, other] = <[_; 2]>::try_from(questions).unwrap();
    assert!(question.waited_for, "a lease says that its host runs");
    let mut patience = 0..60;
    while second.approvals().question(&question.id).block_on().unwrap().waited_for {
        patience.next().expect("the lease must end");
        std::thread::sleep(Duration::from_secs(1));
    }
    assert_eq!(second.approvals().answer(&question.id, &Answer::Yes).block_on().unwrap(), Onward::Here);
    let resumed = runtime.block_on(second.resume(&question.id)).unwrap();
    assert_eq!(resumed.code, Code::Completed);
    assert_eq!(fleet.marks(), BTreeMap::from([(numbered(0), 1)]));
    // The database has run for longer than a lease, and the second host renews its own.
    runtime.spawn({
        let second = Arc::clone(&second);
        async move { second.call(mark(7)).await.code }
    });
    let command = fleet.approvals(3);
    let is_seventh = |open: &OpenQuestion| open.question.as_ref().is_some_and(|asked| asked.arguments == numbered(7));
    let seventh = || command.list().block_on().unwrap().questions.into_iter().find(is_seventh);
    assert!(eventually("the request", seventh).waited_for, "its host runs");
    let is_waited_for = |approvals: &Approvals| approvals.question(&other.id).block_on().unwrap().waited_for;
    let let_a_minute_pass = |contact: &str| {
        let hosts = "UPDATE portcullis.host SET alive_until = alive_until - 60000";
        fleet.server.run(DATABASE, &format!("{hosts}; UPDATE portcullis.contact SET {contact}")).unwrap();
    };
    // No host could reach the database for two minutes. A command noted that a minute ago. This host is the first one
    // to return, and the other one may be about to.
    let_a_minute_pass("heard_at = heard_at - 120000, since = heard_at - 60000");
    assert!(is_waited_for(second.approvals()));
    // When it has renewed its lease, the other one still has the time to do the same.
    let has_returned = || fleet.server.run(DATABASE, "SELECT heard_at > since - 1000 FROM portcullis.contact").unwrap();
    eventually("the renewal", || (has_returned().trim() == "t").then_some(()));
    assert!(is_waited_for(&command));
    // No host is left that renews its lease, as if none could reach the database for a minute.
    drop((second, runtime));
    let heard = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";
    let update = "UPDATE portcullis.contact SET heard_at = now, since = now - 60000";
    fleet.server.run(DATABASE, &format!("{update} FROM ({heard}) AS heard")).unwrap();
    let let_a_minute_pass = || let_a_minute_pass("heard_at = heard_at - 60000, since = since - 60000");
    assert!(!is_waited_for(&command));
    let_a_minute_pass();
    assert!(is_waited_for(&command), "the host may be about to renew its lease");
    // A command that is open notes it within seconds, as one does that opens.
    let is_noted = || fleet.server.run(DATABASE, "SELECT since > heard_at FROM portcullis.contact").unwrap();
    eventually("the gap", || (is_noted().trim() == "t").then_some(()));
    assert!(is_waited_for(&command), "the host may be about to renew its lease");
    drop(command);
    fleet.server.run(DATABASE, "UPDATE portcullis.contact SET since = heard_at").unwrap();
    assert!(is_waited_for(&fleet.approvals(4)), "the host may be about to renew its lease");
    let_a_minute_pass();
    assert!(!is_waited_for(&fleet.approvals(5)), "no host renewed its lease");
}

/// The tool of another host's call never ends, and its host is killed. No host runs the call again.
#[test]
fn a_call_of_a_dead_host_is_lost_and_not_repeated() {
    let Some(fleet) = Fleet::new() else { return };
    let mut child = fleet.start(1, Order::RunForEver, "");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let second = runtime.block_on(async { open(fleet.builder(2).answered_elsewhere()).await });
    eventually("the mark", || fleet.marks().values().any(|runs| *runs > 0).then_some(()));
    child.kill();
    let mut patience = 0..60;
    let lost = loop {
        let question = second.approvals().list_all().block_on().unwrap().questions.remove(0);
        if question.status != Status::Running {
            break question;
        }
        patience.next().expect("the host must settle what the dead one left");
        std::thread::sleep(Duration::from_secs(1));
    };
    assert_eq!(lost.status, Status::Lost);
    let again = runtime.block_on(second.resume(&lost.id));
    assert!(matches!(again, Err(ApprovalError::Settled(Status::Lost))), "{again:?}");
    assert_eq!(fleet.marks(), BTreeMap::from([(numbered(1), 1)]));
}

#[tokio::test]
async fn a_host_with_another_key_is_refused() {
    let Some(fleet) = Fleet::new() else { return };
    drop(fleet.approvals(1));
    let address = PostgresAddress::new(fleet.address());
    let other = StatePlace::from(fleet.state(2)).ledger_in(address);
    let refused = open_approvals(other).await.expect_err("the key is another one");
    let text = WithCauses(&refused).to_string();
    assert!(text.contains("--ledger-key") && !text.contains("portcullis@"), "{text}");
}

/// The certificate is the server's own, for the name `localhost`.
#[tokio::test]
async fn a_connection_is_encrypted_and_its_certificate_is_checked() {
    if !is_installed() {
        return;
    }
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let server = Server::start_with_tls(&certificate.pem(), &key.serialize_pem()).unwrap();
    server.create("ledger").unwrap();
    let desk = Desk::new();
    let file = desk.site.path("authority.pem");
    std::fs::write(&file, certificate.pem()).unwrap();
    let opened = async |host: &str, options: &str| {
        let address = format!("postgres://portcullis@{host}:{}/ledger?sslmode=require{options}", server.port());
        let place = StatePlace::from(desk.site.state()).ledger_in(PostgresAddress::new(address));
        open_approvals(place).await.map(drop).map_err(|error| WithCauses(&error).to_string())
    };
    let trusted = format!("&sslrootcert={}", file.display());
    let wrong_name = opened("127.0.0.1", &trusted).await.unwrap_err();
    assert!(wrong_name.contains("certificate"), "{wrong_name}");
    let untrusted = opened("localhost", "").await.unwrap_err();
    assert!(untrusted.contains("certificate"), "{untrusted}");
    assert_eq!(opened("localhost", &trusted).await, Ok(()));
}

/// A host whose audit log knows a newer ledger does not open, and revokes nothing that others rely on.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_of_another_ledger_is_refused_and_changes_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let id = left_behind(&open(fleet.builder(1).unattended(Unattended::Pending)).await, mark(1)).await;
    let Some(other) = Fleet::new() else { return };
    for number in 0..4 {
        left_behind(&open(other.builder(1).unattended(Unattended::Pending)).await, mark(number)).await;
    }
    let address = PostgresAddress::new(fleet.address());
    let moved = StatePlace::from(other.state(1)).ledger_in(address).ledger_key(fleet.key());
    let refused = open_approvals(moved).await.expect_err("its audit log knows a newer ledger");
    let refused = WithCauses(&refused).to_string();
    assert!(refused.contains("new state directory"), "{refused}");
    assert_eq!(fleet.approvals(2).question(&id).await.unwrap().status, Status::Pending);
}
