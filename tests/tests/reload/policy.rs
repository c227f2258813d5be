//! Reloading the policy: a change takes effect, a broken file does not, and a running call keeps its decision.

use crate::reload::desk::{ALLOW, PATIENCE, call, put, put_bytes, word};
use crate::reload::grants::marks_component;
use portcullis::policy_files::PolicyStatus;
use portcullis::{Code, Compiler, Host, Request};
use portcullis_tests::{BlockOn, Site, assert_verifies};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use tokio::sync::watch::Receiver;
use tokio::time::timeout;

/// Denies what [`ALLOW`] allows. What a running call asks for is not an argument, and still needs approval.
pub(crate) const DENY: &str = "[defaults]\ndecision = \"ask\"\n[limits]\ntime = \"60 s\"\n\
    [[rule]]\ntool = \"*.*\"\nwhen = { go = \"yes\" }\ndecision = \"deny\"\n";

/// Replaces the policy atomically, as an editor does.
pub(crate) fn write(site: &Site, text: &str) {
    fs::write(site.path("policy.toml.new"), text).unwrap();
    fs::rename(site.path("policy.toml.new"), site.path("policy.toml")).unwrap();
}

/// Returns a host whose policy is a file.
pub(crate) async fn open(site: &Site, text: &str) -> Host {
    write(site, text);
    let builder = Host::builder(site.plugins(), site.state()).compiler(Compiler::InProcess).calls(4);
    builder.policy_file(site.path("policy.toml")).open().await.unwrap_or_else(|error| panic!("{error}"))
}

async fn until(status: &mut Receiver<PolicyStatus>, what: &str, is: impl Fn(&PolicyStatus) -> bool) {
    let reached = timeout(PATIENCE, status.wait_for(|status| is(status))).await;
    drop(reached.unwrap_or_else(|_| panic!("timeout: {what}")).unwrap());
}

/// Returns the entries of a kind in the audit log.
pub(crate) fn entries(host: &Host, kind: &str) -> Vec<Value> {
    let mut entries = Vec::new();
    let read = host
        .audit()
        .read(|entry| {
            if entry.document["kind"] == kind {
                entries.push(entry.document);
            }
            Ok(())
        })
        .block_on();
    assert_eq!(read.unwrap().fault, None);
    entries
}

fn fault(host: &Host) -> Option<String> {
    host.policy_status().borrow().fault.clone()
}

#[tokio::test]
async fn a_policy_that_is_edited_to_deny_takes_effect_while_the_host_runs() {
    let site = Site::new();
    let host = open(&site, ALLOW).await;
    let _watch = host.watch();
    let mut status = host.policy_status();
    let before = status.borrow_and_update().clone();
    word(call(&host, "good").await);
    write(&site, DENY);
    until(&mut status, "the policy that denies", |status| *status != before).await;
    let after = status.borrow().clone();
    assert!(after.fault.is_none() && after.sha256 != before.sha256, "{after:?}");
    assert_eq!(call(&host, "good").await.code, Code::PolicyDenied);
    // Written in place, not by renaming another file.
    fs::write(site.path("policy.toml"), ALLOW).unwrap();
    until(&mut status, "the policy that allows", |status| status.sha256 == before.sha256).await;
    word(call(&host, "good").await);
    let replaced: Vec<_> = entries(&host, "policy");
    assert_eq!(replaced.len(), 2, "{replaced:?}");
    assert_eq!(replaced[0]["event"], "replaced");
    assert_eq!(
        (&replaced[0]["sha256"], &replaced[0]["previous_sha256"]),
        (&after.sha256.into(), &before.sha256.into())
    );
    assert!(replaced[0]["changed"].as_array().unwrap().contains(&"rules".into()), "{replaced:?}");
    let decided = entries(&host, "decision");
    assert_eq!(decided[1]["policy_sha256"], replaced[0]["sha256"]);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_policy_that_cannot_be_used_is_reported_and_the_old_one_stays_in_force() {
    let site = Site::new();
    put_bytes(&site, "marks", &marks_component());
    let host = open(&site, ALLOW).await;
    let sha256 = host.policy_status().borrow().sha256.clone();
    let broken = [
        ("rule]\n", "expected"),
        ("[plugin.marks]\ndirectory.other = { path = \"work\", access = \"read-only\" }\n", "`other`"),
        ("[plugin.marks]\ndirectory.work = { path = \"nowhere\", access = \"read-only\" }\n", "marks.work"),
        ("[plugin.marks]\ndirectory.work = { path = \"state\", access = \"read-only\" }\n", "the state directory"),
        ("[limits]\nmemory = \"128 MiB\"\n", "limits.memory"),
        ("[limits]\nhost-memory = \"64 MiB\"\n", "limits.host-memory"),
        ("[plugin.marks]\nstore.notes = { value-bytes = \"1 MiB\" }\n", "`value-bytes` of a store"),
    ];
    for (text, why) in broken {
        write(&site, text);
        let told = host.reload().await.unwrap().policy_fault.unwrap_or_else(|| panic!("{text:?} is in force"));
        assert!(told.contains(why), "{text:?}: {told}");
        assert_eq!(fault(&host).as_ref(), Some(&told));
        assert!(host.reload().await.unwrap().is_empty(), "it must be reported only once");
        word(call(&host, "good").await);
        let explained = host.explain(Request::new("good.run", r#"{"go":"yes"}"#)).await.unwrap();
        assert_eq!((explained.policy_sha256.as_str(), explained.policy_fault), (sha256.as_str(), Some(told.clone())));
        let last = entries(&host, "policy").pop().unwrap();
        assert!(last["event"] == "refused" && last["sha256"] == sha256 && last["reason"] == told, "{last}");
    }
    fs::remove_file(site.path("policy.toml")).unwrap();
    assert!(host.reload().await.unwrap().policy_fault.is_some_and(|told| told.contains("does not exist")));
    word(call(&host, "good").await);
    write(&site, ALLOW);
    host.reload().await.unwrap();
    assert_eq!(fault(&host), None);
    assert_eq!(entries(&host, "policy").pop().unwrap()["event"], "no longer refused");
}

#[tokio::test]
async fn grants_and_descriptions_follow_the_policy_in_force() {
    let site = Site::new();
    for place in ["one", "two"] {
        site.directory(place);
    }
    put_bytes(&site, "marks", &marks_component());
    fs::write(site.plugins().join("marks.run.md"), "Marks ${workspace}.").unwrap();
    let grant = |place: &str| {
        format!("{ALLOW}[plugin.marks]\ndirectory.work = {{ path = \"{place}\", access = \"read-write\" }}\n")
    };
    let described =
        |host: &Host| host.catalog().plugin("marks").unwrap().tools().next().unwrap().description().to_owned();
    let host = open(&site, &grant("one")).await;
    assert_eq!(word(call(&host, "marks").await), "mark");
    assert!(described(&host).ends_with("/one."), "{}", described(&host));
    write(&site, &grant("two"));
    assert!(host.reload().await.unwrap().policy.is_some());
    assert!(described(&host).ends_with("/two."), "{}", described(&host));
    fs::remove_file(site.path("one/mark")).unwrap();
    assert_eq!(word(call(&host, "marks").await), "mark");
    assert!(site.path("two/mark").is_file() && !site.path("one/mark").exists());
    write(&site, ALLOW);
    host.reload().await.unwrap();
    assert_eq!(call(&host, "marks").await.code, Code::DependencyNotGranted);
}

/// A plugin and the policy that names it are added together. The host may notice them in either order.
#[tokio::test]
async fn a_policy_and_the_plugin_that_it_names_take_effect_together() {
    let site = Site::new();
    site.directory("work");
    let host = open(&site, ALLOW).await;
    let grant = format!("{ALLOW}[plugin.marks]\ndirectory.work = {{ path = \"work\", access = \"read-write\" }}\n");
    write(&site, &grant);
    put_bytes(&site, "marks", &marks_component());
    let reloaded = host.reload().await.unwrap();
    assert!(reloaded.policy.is_some() && reloaded.added.len() == 1, "{reloaded:?}");
    assert_eq!(word(call(&host, "marks").await), "mark");
}

#[tokio::test]
async fn a_policy_takes_effect_even_if_the_plugin_directory_cannot_be_read() {
    let site = Site::new();
    let host = open(&site, ALLOW).await;
    fs::rename(site.plugins(), site.path("aside")).unwrap();
    put(&Site::new(), "good", "elsewhere");
    fs::create_dir(site.plugins()).unwrap();
    fs::set_permissions(site.plugins(), Permissions::from_mode(0o777)).unwrap();
    write(&site, DENY);
    assert!(host.reload().await.is_err());
    assert_eq!(call(&host, "good").await.code, Code::PolicyDenied);
}

/// A policy takes effect only after the audit log has an entry for it.
#[tokio::test]
async fn a_policy_that_cannot_be_recorded_does_not_take_effect() {
    let site = Site::new();
    let host = open(&site, ALLOW).await;
    word(call(&host, "good").await);
    let log = site.state().join("audit.jsonl");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 1]).unwrap();
    write(&site, DENY);
    assert!(host.reload().await.is_err());
    fs::write(&log, &whole).unwrap();
    word(call(&host, "good").await);
    assert!(host.reload().await.unwrap().policy.is_some());
    assert_eq!(call(&host, "good").await.code, Code::PolicyDenied);
    assert_eq!(entries(&host, "policy").len(), 1);
    assert_verifies(&host);
}
