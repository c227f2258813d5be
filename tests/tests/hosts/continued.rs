//! Tasks and parked calls that a client continues on another server than the one that runs them.

use super::replicas::{ALICE, BOB, Caller, Replicas, begun, retry, text};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Servers on which every call that does not end at once becomes a task.
const AT_ONCE: &[&str] = &["--task-after", "0"];

/// The same, and the answers of clients count.
const AT_ONCE_ASKING: &[&str] = &["--task-after", "0", "--client-answers", "person"];

/// Servers on which the answers of clients count.
const ASKING: &[&str] = &["--client-answers", "person"];

/// Longer than the lease of a dead server holds.
const LEASE: Duration = Duration::from_secs(50);

fn words(text: &str) -> Value {
    json!({ "text": text })
}

#[track_caller]
fn is_unknown(result: &Value) {
    assert_eq!(result["error"]["code"], -32602, "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_one_replica_is_polled_approved_and_fetched_on_others() {
    let Some(replicas) = Replicas::start(3, AT_ONCE) else { return };
    let alice = Caller::with_tasks(ALICE);
    let created = replicas.call(0, &alice, "clerk__note", words("x")).await;
    let id = begun(&created);
    let question = loop {
        let task = replicas.task(1, &alice, &id).await;
        assert_eq!((&task["status"], &task["ttlMs"]), (&json!("working"), &created["ttlMs"]), "{task}");
        assert_eq!(task["createdAt"], created["createdAt"], "{task}");
        if let Some(message) = task["statusMessage"].as_str() {
            break message.split("approvals approve ").nth(1).unwrap()[..32].to_owned();
        }
    };
    replicas.approve(2, &question);
    for replica in [1, 2, 0] {
        let task = replicas.reached(replica, &alice, &id, "completed").await;
        assert_eq!(text(&task["result"]), "kept: x", "{task}");
        assert_eq!(task["result"]["_meta"]["portcullis/code"], "completed", "{task}");
    }
    assert_eq!(replicas.notes(), ["x"]);
}

/// Each request of such a client is independent. All of them belong to one session, whichever server gets them.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_of_one_replica_is_a_resource_on_another() {
    let Some(replicas) = Replicas::start(2, &[]) else { return };
    let alice = Caller::with_forms(ALICE);
    let result = replicas.call(0, &alice, "long-text__run", json!({})).await;
    let uri = result["content"][1]["uri"].as_str().unwrap_or_else(|| panic!("{result}"));
    let listed = replicas.request(1, &alice, "resources/list", json!({})).await;
    assert_eq!(listed["resources"][0]["uri"], uri, "{listed}");
    let uri = json!({ "uri": uri });
    let page = replicas.request(1, &alice, "resources/read", uri.clone()).await;
    assert!(page["contents"][0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{page}");
    let other = replicas.request(1, &Caller::with_forms(BOB), "resources/read", uri).await;
    assert!(other["error"].is_object(), "it is of another principal: {other}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_on_another_replica() {
    let Some(replicas) = Replicas::start(2, AT_ONCE) else { return };
    let alice = Caller::with_tasks(ALICE);
    let id = begun(&replicas.call(0, &alice, "clerk__wait", json!({})).await);
    replicas.noted(1).await;
    assert_eq!(replicas.task(1, &alice, &id).await["status"], "working");
    let cancelled = replicas.request(1, &alice, "tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(cancelled["resultType"], "complete", "{cancelled}");
    for replica in [1, 0] {
        replicas.reached(replica, &alice, &id, "cancelled").await;
    }
    let again = replicas.request(0, &alice, "tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(again["resultType"], "complete", "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_a_task_is_answered_on_another_replica() {
    let Some(replicas) = Replicas::start(3, AT_ONCE_ASKING) else { return };
    let alice = Caller::with_tasks_and_forms(ALICE);
    let id = begun(&replicas.call(0, &alice, "clerk__sign", words("allowed")).await);
    let task = replicas.reached(1, &alice, &id, "input_required").await;
    let (key, request) = task["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert!(request["params"]["message"].as_str().unwrap().contains("the seal"), "{request}");
    let answer = |key: &str| json!({ "taskId": id, "inputResponses": { key: { "action": "accept" } } });
    let bob = Caller::with_tasks_and_forms(BOB);
    is_unknown(&replicas.request(1, &bob, "tasks/update", answer(key)).await);
    // An answer to a request that is not open has no effect.
    replicas.request(1, &alice, "tasks/update", answer("other")).await;
    assert_eq!(replicas.task(0, &alice, &id).await["status"], "input_required");
    replicas.request(2, &alice, "tasks/update", answer(key)).await;
    assert_ne!(replicas.task(1, &alice, &id).await["status"], "input_required", "the request must be shown only once");
    let task = replicas.reached(1, &alice, &id, "completed").await;
    assert_eq!(text(&task["result"]), "signed: allowed", "{task}");
    assert_eq!(replicas.notes(), ["signed: allowed"]);
}

/// The call asks before it runs, and in the middle of its run. Each answer reaches another replica.
#[tokio::test(flavor = "multi_thread")]
async fn a_parked_call_is_continued_on_others_and_each_state_counts_once() {
    let Some(replicas) = Replicas::start(3, ASKING) else { return };
    let alice = Caller::with_forms(ALICE);
    let asked = replicas.call(0, &alice, "clerk__sign", words("x")).await;
    let first = retry("clerk__sign", words("x"), &asked, "accept");
    // For another principal, other arguments or another tool, the state counts for nothing, and is not spent.
    is_unknown(&replicas.request(1, &Caller::with_forms(BOB), "tools/call", first.clone()).await);
    let mut other = first.clone();
    other["arguments"] = words("y");
    is_unknown(&replicas.request(1, &alice, "tools/call", other).await);
    let mut other = first.clone();
    other["name"] = json!("clerk__note");
    is_unknown(&replicas.request(1, &alice, "tools/call", other).await);
    let asked = replicas.request(1, &alice, "tools/call", first.clone()).await;
    let request = &asked["inputRequests"].as_object().unwrap().values().next().unwrap()["params"]["message"];
    assert!(request.as_str().unwrap().contains("the seal"), "it asks in the middle of its run: {asked}");
    for replica in 0..3 {
        is_unknown(&replicas.request(replica, &alice, "tools/call", first.clone()).await);
    }
    let second = retry("clerk__sign", words("x"), &asked, "accept");
    let result = replicas.request(2, &alice, "tools/call", second.clone()).await;
    assert_eq!(text(&result), "signed: x", "{result}");
    for state in [first, second] {
        for replica in 0..3 {
            is_unknown(&replicas.request(replica, &alice, "tools/call", state.clone()).await);
        }
    }
    assert_eq!(replicas.notes(), ["signed: x"]);
    assert_eq!(replicas.query("SELECT count(*) FROM shared_call").trim(), "0", "a call is forgotten with its reply");
}

/// The client's user approved another text of the file than the one that is there now.
#[tokio::test(flavor = "multi_thread")]
async fn an_approval_on_another_replica_does_not_count_if_the_file_has_changed_since() {
    let Some(replicas) = Replicas::start(2, ASKING) else { return };
    let alice = Caller::with_forms(ALICE);
    replicas.write("old\n");
    let arguments = json!({ "path": "text", "content": "new\n" });
    let asked = replicas.call(0, &alice, "files__write", arguments.clone()).await;
    let form = asked["inputRequests"]["approval"]["params"]["message"].as_str().unwrap_or_else(|| panic!("{asked}"));
    assert!(form.contains("-old") && form.contains("+new"), "{form}");
    replicas.write("changed\n");
    let denied = replicas.request(1, &alice, "tools/call", retry("files__write", arguments, &asked, "accept")).await;
    assert!(text(&denied).contains("the file has changed since the user was asked"), "{denied}");
    assert_eq!(replicas.read(), "changed\n");
}

/// Two replicas get the same state at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_used_on_two_replicas_at_once_counts_once() {
    let Some(replicas) = Replicas::start(2, ASKING) else { return };
    let alice = Caller::with_forms(ALICE);
    for number in 0..5 {
        let note = words(&number.to_string());
        let asked = replicas.call(0, &alice, "clerk__note", note.clone()).await;
        let again = retry("clerk__note", note, &asked, "accept");
        let used = tokio::join!(
            replicas.request(0, &alice, "tools/call", again.clone()),
            replicas.request(1, &alice, "tools/call", again)
        );
        let errors = [&used.0, &used.1].into_iter().filter(|result| result.get("error").is_some());
        assert_eq!(errors.count(), 1, "{used:?}");
    }
    assert_eq!(replicas.notes(), ["0", "1", "2", "3", "4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_and_a_retry_without_an_answer_reach_the_call_on_another_replica() {
    let Some(replicas) = Replicas::start(2, ASKING) else { return };
    let alice = Caller::with_forms(ALICE);
    let asked = replicas.call(0, &alice, "clerk__note", words("x")).await;
    let mut empty = retry("clerk__note", words("x"), &asked, "accept");
    empty["inputResponses"] = json!({});
    let asked_again = replicas.request(1, &alice, "tools/call", empty).await;
    assert_ne!(asked_again["requestState"], asked["requestState"]);
    let denied =
        replicas.request(0, &alice, "tools/call", retry("clerk__note", words("x"), &asked_again, "decline")).await;
    assert_eq!(denied["_meta"]["portcullis/code"], "approval-denied", "{denied}");
    assert!(replicas.notes().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_closes_its_retry_cancels_the_call_where_it_runs() {
    let Some(replicas) = Replicas::start(2, ASKING) else { return };
    let alice = Caller::with_forms(ALICE);
    let asked = replicas.call(0, &alice, "clerk__sign", words("x")).await;
    let asked = replicas.request(1, &alice, "tools/call", retry("clerk__sign", words("x"), &asked, "accept")).await;
    // The call waits in the middle of its run. Without an answer it goes on waiting, for another channel.
    let mut params = retry("clerk__sign", words("x"), &asked, "accept");
    params["inputResponses"] = json!({});
    let cannot_be_asked = Caller { capabilities: json!({}), ..alice.clone() };
    let ask = replicas.ask(1, &cannot_be_asked, "tools/call", params);
    let address = replicas.address(1);
    let waiting = tokio::spawn(async move { ask.send(address).await });
    let statuses = "SELECT string_agg(status, ' ' ORDER BY asked_at) FROM question";
    let turns = "SELECT round FROM shared_call";
    portcullis_tests::eventually_async("the turn", || (replicas.query(turns).trim() == "3").then_some(())).await;
    assert_eq!(replicas.query(statuses).trim(), "running pending");
    waiting.abort();
    let cancelled = || (replicas.query(statuses).trim() == "done withdrawn").then_some(());
    portcullis_tests::eventually_async("the end of the call", cancelled).await;
    assert!(replicas.notes().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tasks_of_another_principal_do_not_exist_on_any_replica() {
    let Some(replicas) = Replicas::start(2, AT_ONCE) else { return };
    let (alice, bob) = (Caller::with_tasks(ALICE), Caller::with_tasks(BOB));
    let id = begun(&replicas.call(0, &alice, "clerk__wait", json!({})).await);
    for replica in 0..2 {
        for method in ["tasks/get", "tasks/cancel"] {
            let foreign = replicas.request(replica, &bob, method, json!({ "taskId": id })).await;
            let none = replicas.request(replica, &bob, method, json!({ "taskId": "0".repeat(32) })).await;
            assert_eq!((&foreign["error"]["code"], &foreign), (&json!(-32602), &none));
        }
    }
    assert_eq!(replicas.task(1, &alice, &id).await["status"], "working");
    replicas.request(1, &alice, "tasks/cancel", json!({ "taskId": id })).await;
    replicas.reached(0, &alice, &id, "cancelled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_a_killed_replica_fail_within_its_lease() {
    let Some(mut replicas) = Replicas::start(2, AT_ONCE_ASKING) else { return };
    let (tasks, forms) = (Caller::with_tasks(ALICE), Caller::with_forms(ALICE));
    let id = begun(&replicas.call(0, &tasks, "clerk__wait", json!({})).await);
    let asked = replicas.call(0, &forms, "clerk__note", words("x")).await;
    replicas.noted(1).await;
    replicas.kill(0);
    assert_eq!(replicas.task(1, &tasks, &id).await["status"], "working", "its lease still holds");
    let killed = Instant::now();
    let failed = loop {
        let task = replicas.task(1, &tasks, &id).await;
        if task["status"] != "working" {
            break task;
        }
        assert!(killed.elapsed() < LEASE, "{task}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    assert_eq!((&failed["status"], &failed["error"]["data"]["code"]), (&json!("failed"), &json!("host-died")));
    assert!(failed["error"]["message"].as_str().unwrap().contains("the call was lost"), "{failed}");
    assert_eq!(replicas.task(1, &tasks, &id).await, failed, "a task that has failed stays so");
    let lost = replicas.request(1, &forms, "tools/call", retry("clerk__note", words("x"), &asked, "accept")).await;
    assert!(lost["error"]["message"].as_str().unwrap().contains("the call was lost"), "{lost}");
    assert_eq!(replicas.notes(), ["waiting"]);
}

/// A client gets an error while the database is away, and loses neither its task nor its parked call.
#[tokio::test(flavor = "multi_thread")]
async fn calls_outlast_a_database_that_is_away() {
    let Some(mut replicas) = Replicas::start(2, AT_ONCE_ASKING) else { return };
    // Of another principal, because calls of one session that write run one after another.
    let (tasks, forms) = (Caller::with_tasks(ALICE), Caller::with_forms(BOB));
    let id = begun(&replicas.call(0, &tasks, "clerk__wait", json!({})).await);
    let asked = replicas.call(0, &forms, "clerk__note", words("x")).await;
    let again = retry("clerk__note", words("x"), &asked, "accept");
    replicas.noted(1).await;
    replicas.database.stop().unwrap();
    let (task, retried) =
        tokio::join!(replicas.task(1, &tasks, &id), replicas.request(1, &forms, "tools/call", again.clone()));
    for answer in [task, retried] {
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("the ledger cannot be used"), "{answer}");
    }
    replicas.database.start_again().unwrap();
    let result = replicas.request(1, &forms, "tools/call", again).await;
    assert_eq!(text(&result), "kept: x", "{result}");
    assert_eq!(replicas.task(1, &tasks, &id).await["status"], "working");
    replicas.request(1, &tasks, "tasks/cancel", json!({ "taskId": id })).await;
    replicas.reached(1, &tasks, &id, "cancelled").await;
    assert_eq!(replicas.notes(), ["waiting", "x"]);
}

/// The reply of a call that ends while the database is away is there when the database is.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_ends_while_the_database_is_away_is_reported_later() {
    let Some(mut replicas) = Replicas::start(2, AT_ONCE) else { return };
    let alice = Caller::with_tasks(ALICE);
    let id = begun(&replicas.call(0, &alice, "clerk__wait", json!({})).await);
    replicas.noted(1).await;
    replicas.request(1, &alice, "tasks/cancel", json!({ "taskId": id })).await;
    replicas.database.stop().unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    replicas.database.start_again().unwrap();
    replicas.reached(1, &alice, &id, "cancelled").await;
}
