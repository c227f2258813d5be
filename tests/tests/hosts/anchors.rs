//! Heads of audit logs that are anchored in the database: a log that was cut back, replaced or copied is detected.

use super::fleet::Fleet;
use crate::approvals::child::Order;
use crate::approvals::desk::{ALLOW, mark, open, policy};
use crate::schema::assert_valid;
use portcullis::audit::AnchoredChain;
use portcullis::ledger_standing::Anchoring;
use portcullis::storage::StorageFault;
use portcullis::text::WithCauses;
use portcullis::{Code, Host, OpenError, open_shared_ledger};
use portcullis_ledger::ledger::ANCHORS_KEPT_MAX;
use portcullis_tests::{BlockOn, Ran, eventually_async, program};
use portcullis_tests_postgres::query;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The files of an audit log.
const LOG: [&str; 2] = ["audit.jsonl", "audit.head"];

impl Fleet {
    /// Opens a host on which every call is allowed.
    async fn allowing(&self, host: usize) -> Host {
        open(self.builder(host).policy_text(&policy(ALLOW), self.desk.root())).await
    }

    /// Opens such a host. Returns the error.
    async fn refused(&self, host: usize) -> String {
        let opened: Result<Host, OpenError> =
            self.builder(host).policy_text(&policy(ALLOW), self.desk.root()).open().await;
        WithCauses(&opened.expect_err("the host must not open")).to_string()
    }

    /// Returns the anchors of all logs.
    fn anchors(&self) -> Vec<AnchoredChain> {
        open_shared_ledger(self.place(0)).block_on().unwrap().anchors().block_on().unwrap().unwrap()
    }

    /// Returns how many entries of a host are anchored.
    fn anchored(&self, host: usize) -> u64 {
        let place = format!(":{}", self.state(host).display());
        let chain = self.anchors().into_iter().find(|chain| chain.place.ends_with(&place));
        chain.map_or(0, |chain| chain.anchors.last().unwrap().head.entries)
    }

    /// Runs `audit verify` with more arguments.
    fn verify(&self, host: usize, arguments: &[&str]) -> Ran {
        let mut command = Command::new(program());
        command.env_clear().env("HOME", self.desk.site.path("home")).current_dir(self.desk.root());
        command.args(["audit", "verify", "--state"]).arg(self.state(host)).args(["--state", &self.address()]);
        command.arg("--ledger-key").arg(self.key()).args(arguments);
        command.output().unwrap().into()
    }

    /// Copies the files of a host's audit log to another directory.
    fn copy_log(&self, host: usize, to: &Path) {
        copy(&LOG.map(|name| self.state(host).join(name)), to);
    }

    fn statement(&self, statement: &str) -> String {
        query(self.server.port(), "ledger", statement).unwrap()
    }
}

fn copy(files: &[PathBuf], to: &Path) {
    for file in files {
        fs::copy(file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// Returns the report about the log in a directory.
fn report(document: &Value, directory: &Path) -> Value {
    let directory = directory.display().to_string();
    let chains = document["chains"].as_array().unwrap();
    chains.iter().find(|chain| chain["directory"] == directory.as_str()).unwrap_or_else(|| panic!("{document}")).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_heads_of_all_hosts_are_anchored_and_every_log_is_verified_or_listed() {
    let Some(fleet) = Fleet::new() else { return };
    let hosts = [fleet.allowing(1).await, fleet.allowing(2).await];
    for (number, host) in hosts.iter().enumerate() {
        assert_eq!(host.call(mark(number)).await.code, Code::Completed);
    }
    for host in 1..3 {
        let entries = fleet.record(host).len() as u64;
        eventually_async("the anchor", || (fleet.anchored(host) == entries).then_some(())).await;
    }
    // Here, the log of the second host is not given.
    let told = fleet.verify(1, &["--all"]).ends(0);
    assert!(told.out.contains("verifies") && told.out.contains("not checked"), "{}", told.out);
    assert!(told.err.contains("1 log was not checked"), "{}", told.err);
    let second = fleet.state(2);
    let document = fleet.verify(1, &["--all", "--json", &second.display().to_string()]).ends(0).document();
    assert_valid("audit-verify-all", &document);
    for host in 1..3 {
        let report = report(&document, &fleet.state(host));
        assert_eq!(
            (&report["state"], &report["entries"]),
            (&"verifies".into(), &report["anchored_entries"]),
            "{report}"
        );
    }
    let none = fleet.verify(1, &["--all", "nowhere"]).ends(2);
    assert!(none.err.contains("no audit log in nowhere"), "{}", none.err);
    assert!(!fleet.desk.site.path("nowhere").exists());
}

/// The command only reads: it does not make the ledger again, and notes no gap of the hosts.
#[test]
fn verifying_finds_that_the_ledger_was_removed_and_changes_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let made = "SELECT count(*) FROM pg_namespace WHERE nspname = 'portcullis'";
    assert_eq!((fleet.anchors(), fleet.statement(made).trim()), (Vec::new(), "0"));
    // The log knows the generation of a ledger with a sealed row.
    fleet.approvals(1).trust(&"0".repeat(64), "portcullis.toml").block_on().unwrap();
    fleet.statement("UPDATE portcullis.contact SET heard_at = 0, since = 0");
    for arguments in [&[][..], &["--all"]] {
        fleet.verify(1, arguments).ends(0);
    }
    assert_eq!(fleet.statement("SELECT heard_at + since FROM portcullis.contact").trim(), "0");
    fleet.statement("DROP SCHEMA portcullis CASCADE");
    let damaged = fleet.verify(1, &[]).ends(8);
    assert!(damaged.err.contains("the ledger was removed"), "{}", damaged.err);
    fleet.verify(1, &["--all"]).ends(8);
    assert_eq!(fleet.statement(made).trim(), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_cut_back_or_begun_again_is_detected() {
    let Some(fleet) = Fleet::new() else { return };
    let (state, older) = (fleet.state(1), fleet.desk.site.directory("older"));
    let host = fleet.allowing(1).await;
    host.call(mark(1)).await;
    host.anchor_audit().await;
    fleet.copy_log(1, &older);
    host.call(mark(2)).await;
    // What a host does when it ends.
    host.anchor_audit().await;
    let newer = fleet.desk.site.directory("newer");
    fleet.copy_log(1, &newer);
    drop(host);
    fleet.verify(1, &["--all"]).ends(0);

    copy(&LOG.map(|name| older.join(name)), &state);
    // Without its anchors, the older log is right.
    fleet.verify(1, &[]).ends(0);
    let told = fleet.verify(1, &["--all"]).ends(8);
    assert!(told.err.contains("entries are missing"), "{}", told.err);
    let refused = fleet.refused(1).await;
    assert!(refused.contains("entries are missing") && refused.contains("new state directory"), "{refused}");

    // The same without the newest anchor: the older log is then all that is known of.
    fleet.statement(
        "DELETE FROM portcullis.audit_anchor WHERE number = (SELECT max(number) FROM portcullis.audit_anchor)",
    );
    fleet.verify(1, &["--all"]).ends(0);
    copy(&LOG.map(|name| newer.join(name)), &state);
    fleet.verify(1, &["--all"]).ends(0);

    for name in LOG {
        fs::remove_file(state.join(name)).unwrap();
    }
    let refused = fleet.refused(1).await;
    assert!(refused.contains("entries are missing: it has 0"), "{refused}");
    fleet.verify(1, &["--all"]).ends(8);
}

/// A machine's disk is copied, and both copies run.
#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_with_one_state_directory_do_not_pass_for_one() {
    let Some(fleet) = Fleet::new() else { return };
    let host = fleet.allowing(1).await;
    host.call(mark(1)).await;
    host.anchor_audit().await;
    let copied = fleet.state(2);
    fs::create_dir(&copied).unwrap();
    fs::set_permissions(&copied, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    fleet.copy_log(1, &copied);
    copy(&[fleet.state(1).join("key")], &copied);
    let other = fleet.allowing(2).await;
    host.call(mark(2)).await;
    host.anchor_audit().await;
    other.call(mark(3)).await;
    other.call(mark(4)).await;
    let standing = other.ledger_standing();
    let found = || matches!(standing.borrow().anchoring, Anchoring::OtherLog(_)).then_some(());
    eventually_async("the other log", found).await;
    assert!(matches!(other.check_storage().await, Err(StorageFault::OtherLog(_))));
    // The first host goes on.
    host.check_storage().await.unwrap();
    assert_eq!(fleet.anchored(1), fleet.record(1).len() as u64);
    let told = fleet.verify(1, &["--all", &copied.display().to_string()]).ends(8);
    assert!(told.err.contains("it is another one after entry"), "{}", told.err);
    drop(other);
    let refused = fleet.refused(2).await;
    assert!(refused.contains("it is another one"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_anchor_that_an_administrator_changes_or_removes_is_found() {
    let Some(fleet) = Fleet::new() else { return };
    let host = fleet.allowing(1).await;
    for number in 0..4 {
        host.call(mark(number)).await;
        host.anchor_audit().await;
    }
    fleet.verify(1, &["--all"]).ends(0);
    fleet.statement("UPDATE portcullis.audit_anchor SET entries = entries - 1 WHERE number = 2");
    let told = fleet.verify(1, &["--all"]).ends(8);
    assert!(told.err.contains("anchor 2 in the database was changed"), "{}", told.err);
    fleet.statement("DELETE FROM portcullis.audit_anchor WHERE number = 2");
    let told = fleet.verify(1, &["--all"]).ends(8);
    assert!(told.err.contains("before number 3 were removed"), "{}", told.err);
    // A host that runs knows its newest one.
    fleet.statement("DELETE FROM portcullis.audit_anchor WHERE number < 3 OR number > 3");
    fleet.statement("UPDATE portcullis.audit_anchor SET number = 1");
    host.call(mark(5)).await;
    let standing = host.ledger_standing();
    let found = || matches!(standing.borrow().anchoring, Anchoring::Damaged(_)).then_some(());
    eventually_async("the removal", found).await;
    host.check_storage().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_runs_notices_that_all_of_its_anchors_are_gone() {
    let Some(fleet) = Fleet::new() else { return };
    let host = fleet.allowing(1).await;
    for number in 0..3 {
        host.call(mark(number)).await;
        host.anchor_audit().await;
    }
    fleet.statement("DELETE FROM portcullis.audit_anchor");
    host.call(mark(4)).await;
    let standing = host.ledger_standing();
    let is_damaged = || matches!(standing.borrow().anchoring, Anchoring::Damaged(_));
    eventually_async("the removal", || is_damaged().then_some(())).await;
    // It does not count from 1 again, so it is found later too.
    let told = fleet.verify(1, &["--all"]).ends(8);
    assert!(told.err.contains("before number") && told.err.contains("were removed"), "{}", told.err);
    // Without a new entry, the host says the same in its next rounds.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(is_damaged());
}

/// Otherwise a crash of the machine could leave a log that is shorter than its anchor.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_synced_to_the_disk_is_not_anchored() {
    let Some(fleet) = Fleet::new() else { return };
    let mut child = fleet.start(1, Order::AnchorUnsynced, "");
    child.until("synced");
    let synced = fleet.anchored(1);
    assert!(synced > 0);
    child.until("unsynced");
    assert!(fleet.record(1).len() as u64 > synced);
    assert_eq!(fleet.anchored(1), synced);
    child.kill();
    let host = fleet.allowing(1).await;
    host.call(mark(3)).await;
    host.anchor_audit().await;
    assert_eq!(fleet.anchored(1), fleet.record(1).len() as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_go_on_without_the_database_and_are_anchored_when_it_returns() {
    let Some(mut fleet) = Fleet::new() else { return };
    let host = fleet.allowing(1).await;
    assert_eq!(host.call(mark(1)).await.code, Code::Completed);
    host.anchor_audit().await;
    fleet.server.stop().unwrap();
    assert_eq!(host.call(mark(2)).await.code, Code::Completed);
    let standing = host.ledger_standing();
    let waits = || matches!(standing.borrow().anchoring, Anchoring::Waits(_)).then_some(());
    eventually_async("a failure", waits).await;
    fleet.server.start_again().unwrap();
    let entries = fleet.record(1).len() as u64;
    let works = || (standing.borrow().anchoring == Anchoring::Works && fleet.anchored(1) == entries).then_some(());
    eventually_async("the anchor", works).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_anchors_are_removed_and_so_are_those_of_logs_that_ended_long_ago() {
    let Some(fleet) = Fleet::new() else { return };
    // Makes the tables.
    drop(fleet.approvals(2));
    for (chain, days) in [("long-ago", 401), ("a-year-ago", 365)] {
        fleet.statement(&format!(
            "INSERT INTO portcullis.audit_anchor (chain, number, place, bytes, entries, mac, at, seal) VALUES \
             ('{chain}', 1, 'elsewhere', 1, 1, '', \
             (extract(epoch FROM clock_timestamp() - INTERVAL '{days} days') * 1000)::bigint, '')"
        ));
    }
    let host = fleet.allowing(1).await;
    for number in 0..ANCHORS_KEPT_MAX + 2 {
        host.call(mark(usize::try_from(number).unwrap())).await;
        host.anchor_audit().await;
    }
    let chains = fleet.anchors();
    let ended: Vec<_> = chains.iter().filter(|chain| chain.place == "elsewhere").map(|chain| &chain.chain).collect();
    assert_eq!(ended, ["a-year-ago"]);
    let own = chains.iter().find(|chain| chain.place != "elsewhere").unwrap();
    assert_eq!((own.anchors.len() as u64, own.damage()), (ANCHORS_KEPT_MAX, None));
    fleet.statement("DELETE FROM portcullis.audit_anchor WHERE place = 'elsewhere'");
    fleet.verify(1, &["--all"]).ends(0);
}

/// Another process of the state directory has used the number of the anchor meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn an_anchor_that_was_not_added_is_tried_again() {
    let Some(fleet) = Fleet::new() else { return };
    let host = fleet.allowing(1).await;
    host.call(mark(1)).await;
    host.anchor_audit().await;
    // A trigger, because a rule would stay in the prepared statements of a connection.
    fleet.statement("CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
    fleet.statement(
        "CREATE TRIGGER nothing BEFORE INSERT ON portcullis.audit_anchor FOR EACH ROW EXECUTE FUNCTION nothing()",
    );
    host.call(mark(2)).await;
    host.anchor_audit().await;
    let entries = fleet.record(1).len() as u64;
    assert!(fleet.anchored(1) < entries);
    fleet.statement("DROP TRIGGER nothing ON portcullis.audit_anchor");
    eventually_async("the anchor", || (fleet.anchored(1) == entries).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_with_different_policies_are_noticed() {
    let Some(fleet) = Fleet::new() else { return };
    let first = fleet.allowing(1).await;
    let second = open(fleet.builder(2).answered_elsewhere()).await;
    let standing = first.ledger_standing();
    eventually_async("two policies", || (standing.borrow().policies.len() == 2).then_some(())).await;
    let own = first.policy_status().borrow().sha256.clone();
    assert_eq!(standing.borrow().policies.get(&own), Some(&1));
    assert_eq!(first.metrics().await.ledger_policies, Some(2));
    drop(second);
    eventually_async("one policy", || (standing.borrow().policies.len() == 1).then_some(())).await;
    // Each decision names the policy that made it.
    first.call(mark(1)).await;
    let decision = fleet.record(1).into_iter().rfind(|entry| entry["kind"] == "decision").unwrap();
    assert_eq!(decision["policy_sha256"], own.as_str());
}
