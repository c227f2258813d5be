//! What a call was given ends with it, whatever the guest keeps.

use crate::instances::desk::{DIRECTORIES, SESSION, open, request, results, site, step, take};
use portcullis::{Host, Request};
use serde_json::{Value, json};
use std::fs;

fn ok(value: impl Into<Value>) -> Value {
    json!({ "ok": value.into() })
}

fn is_refused(result: &Value) -> bool {
    result["error"].is_string()
}

#[tokio::test]
async fn each_call_has_the_directories_of_its_own_tool() {
    let site = site();
    let host = open(&site, &format!("{SESSION}{DIRECTORIES}")).await;
    let attempts =
        [step("note", "x"), step("read", "/workspace/a"), step("write", "/workspace/new"), step("names", "/other")];
    for round in 1..=3 {
        let notes = |calls: usize| json!(vec!["x"; (round - 1) * 3 + calls]);
        let changed = take(&host, "keeper.change", &attempts).await;
        assert_eq!(changed[..3], [notes(1), ok("a"), ok(Value::Null)], "round {round}");
        assert_eq!(changed[3], ok(2), "round {round}");
        let looked = take(&host, "keeper.look", &attempts).await;
        assert_eq!(looked[..2], [notes(2), ok("a")], "round {round}");
        assert!(is_refused(&looked[2]), "round {round}: {looked:?}");
        let thought = take(&host, "keeper.think", &attempts).await;
        assert_eq!(thought[0], notes(3), "round {round}");
        assert!(thought[1..].iter().all(is_refused), "round {round}: {thought:?}");
    }
}

/// An instance whose first call has no directory gets the directories of later calls all the same.
#[tokio::test]
async fn an_instance_that_began_without_directories_gets_those_of_the_next_call() {
    let site = site();
    let host = open(&site, &format!("{SESSION}{DIRECTORIES}")).await;
    let attempts = [step("note", "x"), step("read", "/workspace/a")];
    assert!(is_refused(&take(&host, "keeper.think", &attempts).await[1]));
    assert_eq!(take(&host, "keeper.change", &attempts).await, [json!(["x", "x"]), ok("a")]);
}

#[tokio::test]
async fn each_call_is_narrowed_to_its_own_place() {
    let site = site();
    let narrowed = "directory.workspace = { path = \"workspace\", narrow = \"/place\", access = \"read-write\" }\n";
    let host = open(&site, &format!("{SESSION}{narrowed}")).await;
    let steps = [step("note", "x"), step("read", "/workspace/a"), step("read", "/workspace/b")];
    let call = |place: &str| {
        let arguments = json!({ "steps": steps, "place": place }).to_string();
        Request::new("keeper.look", arguments).session("s")
    };
    for round in 0..3 {
        let first = results(&host.call(call("a")).await);
        assert_eq!(first[..2], [json!(vec!["x"; 2 * round + 1]), ok("a")]);
        assert!(is_refused(&first[2]), "{first:?}");
        let second = results(&host.call(call("b")).await);
        assert_eq!((&second[0], &second[2]), (&json!(vec!["x"; 2 * round + 2]), &ok("b")));
        assert!(is_refused(&second[1]), "{second:?}");
    }
}

/// A narrowed call has a handle of its own for its directory. Nothing holds it after the call.
#[tokio::test]
async fn an_idle_instance_holds_no_open_directory() {
    let site = site();
    let narrowed = "directory.workspace = { path = \"workspace\", narrow = \"/place\", access = \"read-write\" }\n";
    let host = open(&site, &format!("{SESSION}{narrowed}")).await;
    let workspace = fs::canonicalize(site.path("workspace")).unwrap();
    let handles = || {
        let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        open.filter(|target| *target == workspace).count()
    };
    let before = handles();
    let arguments = json!({ "steps": [step("read", "/workspace/a")], "place": "a" }).to_string();
    assert_eq!(results(&host.call(Request::new("keeper.look", arguments).session("s")).await), [ok("a")]);
    assert_eq!(host.metrics().await.session_instances, 1);
    assert_eq!((before > 0, handles()), (true, before));
}

#[tokio::test]
async fn a_guest_that_keeps_what_it_was_given_is_not_kept() {
    let site = site();
    let more = "store.notes = {}\nhttp.site = { hosts = [\"example.com\"] }\n";
    let host = open(&site, &format!("{SESSION}{DIRECTORIES}{more}")).await;
    for (op, text) in [
        ("hold-file", "/workspace/a"),
        ("hold-listing", "/workspace"),
        ("hold-store", "notes"),
        ("hold-client", "site"),
    ] {
        assert_eq!(
            take(&host, "keeper.look", &[step("note", "x"), step(op, text)]).await,
            [json!(["x"]), ok(Value::Null)]
        );
        let next = take(&host, "keeper.look", &[step("read-held", ""), step("note", "y")]).await;
        assert_eq!(next, [ok(""), json!(["y"])], "{op}");
        end(&host).await;
    }
}

/// Ends the instance of the session.
async fn end(host: &Host) {
    let reply = host.call(request("keeper.look", "s", &[step("trap", "")])).await;
    assert_eq!(reply.code, portcullis::Code::Trapped);
}
