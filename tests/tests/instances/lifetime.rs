//! What continues from one call to the next, and what ends an instance.

use crate::instances::desk::{SESSION, earlier_calls, note, note_in, open, policy, request, results, site, step, take};
use crate::reload::policy as file;
use portcullis::plugins::Contract;
use portcullis::{Batch, Code, Request};
use portcullis_tests::{Manifest, assert_verifies, built_guest_of, guest, outcome_of};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn memory_continues_within_a_session_only_if_the_policy_says_so() {
    let site = site();
    for (more, second) in [("", json!(["two"])), (SESSION, json!(["one", "two"]))] {
        let host = open(&site, more).await;
        assert_eq!(note(&host, "one").await, json!(["one"]), "{more}");
        assert_eq!(note(&host, "two").await, second, "{more}");
        assert_verifies(&host);
    }
}

#[tokio::test]
async fn memory_never_crosses_sessions_principals_or_plugins() {
    let site = site();
    let host = open(&site, &format!("{SESSION}[plugin.reaper]\ninstance = \"session\"\n")).await;
    for (session, principal) in [("s", "ada"), ("t", "ada"), ("s", "bob"), ("t", "bob")] {
        assert_eq!(note_in(&host, session, principal, "first").await, json!(["first"]), "{session} {principal}");
    }
    let other = request("reaper.think", "s", &[step("note", "first")]).principal("ada".parse().unwrap());
    assert_eq!(results(&host.call(other).await), [json!(["first"])]);
    // Each of them is still there.
    for (session, principal) in [("s", "ada"), ("t", "ada"), ("s", "bob"), ("t", "bob")] {
        let both = json!(["first", "second"]);
        assert_eq!(note_in(&host, session, principal, "second").await, both, "{session} {principal}");
    }
}

#[tokio::test]
async fn the_audit_log_says_how_many_calls_an_instance_ran_before() {
    let site = site();
    let host = open(&site, SESSION).await;
    for earlier in [Value::Null, json!(1), json!(2)] {
        let reply = host.call(request("keeper.think", "s", &[step("print", &earlier.to_string())])).await;
        results(&reply);
        assert_eq!(earlier_calls(&host, &reply), earlier);
        // What a call prints is in its own entry.
        assert_eq!(outcome_of(&host, &reply.id)["printed"], format!("{earlier}\n"));
    }
}

#[tokio::test]
async fn the_clock_of_a_guest_goes_on() {
    let site = site();
    let host = open(&site, SESSION).await;
    let first = take(&host, "keeper.think", &[step("age", "")]).await[0].as_u64().unwrap();
    sleep(Duration::from_millis(30)).await;
    let second = take(&host, "keeper.think", &[step("age", "")]).await[0].as_u64().unwrap();
    assert!(second >= first + 25_000, "{first} {second}");
}

/// A step, the outcome of its call, and what the next call finds.
type Ending = (&'static str, usize, Code, bool);

#[tokio::test]
async fn a_trap_or_a_limit_ends_an_instance_and_a_failure_does_not() {
    const MEBIBYTE: usize = 1 << 20;
    let site = site();
    let endings: [Ending; 5] = [
        ("fail", 0, Code::ToolFailed, true),
        ("grow", 8 * MEBIBYTE, Code::Completed, true),
        // More than three quarters of the memory.
        ("grow", 52 * MEBIBYTE, Code::Completed, false),
        ("trap", 0, Code::Trapped, false),
        ("spin", 0, Code::Limit(portcullis::LimitKind::Time), false),
    ];
    for (op, bytes, code, lives) in endings {
        let host = open(&site, &format!("{SESSION}limits.time = \"700 ms\"\n")).await;
        note(&host, "one").await;
        let steps = [json!({ "op": op, "text": "now", "bytes": bytes })];
        let reply = host.call(request("keeper.think", "s", &steps).principal("ada".parse().unwrap())).await;
        assert_eq!(reply.code, code, "{op} {bytes}: {}", reply.message);
        let expected = if lives { json!(["one", "two"]) } else { json!(["two"]) };
        assert_eq!(note(&host, "two").await, expected, "{op} {bytes}");
    }
}

#[tokio::test]
async fn a_dropped_call_ends_its_instance() {
    let site = site();
    let host = open(&site, SESSION).await;
    note(&host, "one").await;
    let spin = request("keeper.think", "s", &[step("spin", "")]).principal("ada".parse().unwrap());
    assert!(timeout(Duration::from_millis(300), host.call(spin)).await.is_err());
    assert_eq!(note(&host, "two").await, json!(["two"]));
}

#[tokio::test]
async fn an_instance_ends_after_its_idle_time() {
    let site = site();
    let host = open(&site, &format!("{SESSION}limits.idle-time = \"1 s\"\n")).await;
    note(&host, "one").await;
    assert_eq!(host.metrics().await.session_instances, 1);
    // It ends by itself, without another call.
    let ended = async {
        while host.metrics().await.session_instances > 0 {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), ended).await.unwrap();
    assert_eq!(note(&host, "two").await, json!(["two"]));
}

#[tokio::test]
async fn a_new_policy_or_a_new_file_ends_every_instance() {
    let site = site();
    let host = file::open(&site, &policy(SESSION)).await;
    note(&host, "one").await;
    host.reload().await.unwrap();
    assert_eq!(note(&host, "two").await, json!(["one", "two"]), "nothing changed");

    file::write(&site, &policy(&format!("{SESSION}limits.log = \"1 KiB\"\n")));
    host.reload().await.unwrap();
    assert_eq!(host.metrics().await.session_instances, 0);
    assert_eq!(note(&host, "three").await, json!(["three"]));

    // A custom section changes the file and nothing else.
    let mut bytes = fs::read(site.plugins().join("keeper.wasm")).unwrap();
    bytes.extend([0, 2, 1, b'x']);
    site.plugin("keeper", &bytes);
    host.reload().await.unwrap();
    assert_eq!(host.metrics().await.session_instances, 0);
    assert_eq!(note(&host, "four").await, json!(["four"]));

    file::write(&site, &policy(""));
    host.reload().await.unwrap();
    assert_eq!(note(&host, "five").await, json!(["five"]));
    assert_eq!(note(&host, "six").await, json!(["six"]));
}

/// A policy that changes while a call runs ends the instance of that call as well.
#[tokio::test]
async fn a_policy_that_changes_during_a_call_ends_its_instance() {
    let site = site();
    let host = file::open(&site, &policy(SESSION)).await;
    let long = json!({ "op": "wait", "bytes": 400 });
    let running =
        host.call(request("keeper.think", "s", &[long, step("note", "one")]).principal("ada".parse().unwrap()));
    let change = async {
        sleep(Duration::from_millis(150)).await;
        file::write(&site, &policy(&format!("{SESSION}limits.log = \"1 KiB\"\n")));
        host.reload().await.unwrap();
    };
    let (reply, ()) = tokio::join!(running, change);
    results(&reply);
    assert_eq!(host.metrics().await.session_instances, 0);
    assert_eq!(note(&host, "two").await, json!(["two"]));
}

#[tokio::test]
async fn a_person_is_told_that_memory_is_kept() {
    let site = site();
    for (more, told) in [("", false), (SESSION, true)] {
        let host = open(&site, more).await;
        let catalog = host.catalog();
        let lines = host.handles(catalog.plugin("keeper").unwrap());
        let says = |(_, lines): &(String, Vec<String>)| lines.iter().any(|line| line.starts_with("memory: kept"));
        assert!(lines.iter().all(|tool| says(tool) == told), "{lines:?}");
    }
}

/// A call of a batch may use the instance of its session like any other.
#[tokio::test]
async fn calls_of_a_batch_are_calls_of_the_session() {
    let site = site();
    let host = open(&site, SESSION).await;
    let calls: Vec<Request> =
        ["one", "two", "three"].map(|text| request("keeper.change", "s", &[step("note", text)])).into();
    let replies = host.batch(Batch::new(calls)).await;
    let last = results(replies.last().unwrap()).remove(0);
    assert_eq!(last, json!(["one", "two", "three"]), "calls that write run one after the other");
}

/// A call that another tool makes has the limits that are left to that tool, so it gets no instance of the session.
#[tokio::test]
async fn a_call_of_another_tool_runs_in_a_fresh_sandbox() {
    let site = site();
    site.plugin("relay", &built_guest_of(Contract::V0_2, "relay"));
    let tools = "[plugin.relay]\ninstance = \"session\"\ntools.tools = { tools = [\"keeper.*\"] }\n";
    let host = open(&site, &format!("{SESSION}{tools}")).await;
    for _ in 0..2 {
        let inner = json!({ "tool": "keeper.think", "arguments": { "steps": [step("note", "x")] } });
        let calls = json!({ "calls": [inner.clone(), inner] });
        let reply = host.call(Request::new("relay.run", calls.to_string()).session("s")).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        let answers: Value = serde_json::from_str(&reply.message).unwrap();
        assert_eq!(answers, json!([{ "json": [["x"]] }, { "json": [["x"]] }]));
        assert_eq!(host.metrics().await.session_instances, 1, "only that of the outer call is kept");
    }
}

/// A guest that was refused memory, and answered all the same, reached a limit.
#[tokio::test]
async fn a_refused_growth_of_memory_ends_an_instance() {
    let site = site();
    site.plugin("survivor", &guest("memory-refused-once", &Manifest::of("survivor")));
    site.plugin("steady", &guest("good", &Manifest::of("steady")));
    let both = "[plugin.survivor]\ninstance = \"session\"\n[plugin.steady]\ninstance = \"session\"\n";
    let host = open(&site, both).await;
    for (tool, second) in [("survivor.run", Value::Null), ("steady.run", json!(1))] {
        for earlier in [Value::Null, second] {
            let reply = host.call(Request::new(tool, "{}").session("s")).await;
            assert_eq!(reply.code, Code::Completed, "{}", reply.message);
            assert_eq!(earlier_calls(&host, &reply), earlier, "{tool}");
        }
    }
}
