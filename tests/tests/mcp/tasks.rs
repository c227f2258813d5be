//! Calls that become tasks: when they do, who may see and answer them, and how they end.

use crate::asking::client::{Client, Era, PATIENCE, TASKS};
use crate::asking::office::{Office, answered_by_clients, answered_elsewhere};
use portcullis::Answer;
use portcullis_mcp::ServerOptions;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const NOTE: &str = "clerk__note";
const SIGN: &str = "clerk__sign";
const WAIT: &str = "clerk__wait";

/// Capabilities of a client with tasks.
fn tasks() -> Value {
    json!({ "extensions": { TASKS: {} } })
}

/// Capabilities of a client with tasks and forms.
fn tasks_and_forms() -> Value {
    json!({ "extensions": { TASKS: {} }, "elicitation": {} })
}

/// Every call that does not end immediately becomes a task.
fn at_once(options: ServerOptions) -> ServerOptions {
    ServerOptions { task_after: Duration::ZERO, ..options }
}

/// A call becomes a task only while it waits for an answer.
fn never(options: ServerOptions) -> ServerOptions {
    ServerOptions { task_after: Duration::from_secs(3600), ..options }
}

fn text(words: &str) -> Value {
    json!({ "text": words })
}

/// Returns the ID of the task that a result creates.
fn begun(result: &Value) -> String {
    assert_eq!(result["resultType"], "task", "{result}");
    for name in ["task", "result", "error", "inputRequests", "requestState", "ttl", "pollInterval"] {
        assert_eq!(result.get(name), None, "{result}");
    }
    assert!(result["ttlMs"].as_u64() > Some(0) && result["pollIntervalMs"].as_u64() > Some(0), "{result}");
    let id = result["taskId"].as_str().unwrap().to_owned();
    assert!(
        result["createdAt"].is_string() && result["createdAt"].as_str() <= result["lastUpdatedAt"].as_str(),
        "{result}"
    );
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    id
}

async fn get(client: &mut Client, id: &str) -> Value {
    client.request("tasks/get", json!({ "taskId": id })).await
}

/// Waits until a task has this status.
async fn reached(client: &mut Client, id: &str, status: &str) -> Value {
    let late = Instant::now() + PATIENCE;
    loop {
        let task = get(client, id).await;
        if task["status"] == status {
            assert_eq!((&task["resultType"], &task["taskId"]), (&json!("complete"), &json!(id)));
            return task;
        }
        assert!(Instant::now() < late, "expected status {status}: {task}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn is_unknown(response: &Value) {
    assert_eq!(response["error"]["code"], -32602, "{response}");
}

/// Asserts that an acknowledgement is empty.
fn is_acknowledged(response: &Value) {
    assert_eq!(response["resultType"], "complete", "{response}");
    for name in ["taskId", "status", "result", "error", "inputRequests"] {
        assert_eq!(response.get(name), None, "{response}");
    }
}

async fn update(client: &mut Client, id: &str, responses: Value) -> Value {
    client.request("tasks/update", json!({ "taskId": id, "inputResponses": responses })).await
}

async fn cancel(client: &mut Client, id: &str) -> Value {
    client.request("tasks/cancel", json!({ "taskId": id })).await
}

#[tokio::test]
async fn a_call_that_waits_for_another_approver_becomes_a_task() {
    let office = Office::with("", never(answered_elsewhere())).await;
    for (era, capabilities) in [(Era::Modern, tasks()), (Era::Modern, tasks_and_forms()), (Era::Legacy, tasks())] {
        let mut client = Client::open(&office.server, era, capabilities).await;
        let begun = client.call(NOTE, text("x")).await;
        let id = begun["taskId"].as_str().unwrap().to_owned();
        let task = get(&mut client, &id).await;
        let question = office.question().await;
        let message = task["statusMessage"].as_str().unwrap();
        assert_eq!(task["status"], "working");
        assert!(message.contains(&format!("portcullis approvals approve {}", question.id)), "{message}");
        // The client's own approval does not count here.
        update(&mut client, &id, json!({ &question.id: { "action": "accept" } })).await;
        office.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
        let task = reached(&mut client, &id, "completed").await;
        assert_eq!(task["result"]["content"][0]["text"], "kept: x", "{task}");
        assert!(task["lastUpdatedAt"].as_str() >= task["createdAt"].as_str(), "{task}");
    }
    assert_eq!(office.notes(), ["x", "x", "x"]);
}

#[tokio::test]
async fn an_approval_by_a_client_without_authority_does_not_answer_a_task() {
    let office = Office::with("", never(answered_elsewhere())).await;
    let mut client = Client::open(&office.server, Era::Modern, tasks_and_forms()).await;
    let id = begun(&client.call(NOTE, text("x")).await);
    let question = office.question().await;
    is_acknowledged(&update(&mut client, &id, json!({ &question.id: { "action": "accept" } })).await);
    assert!(office.question().await.status.is_open());
    is_acknowledged(&cancel(&mut client, &id).await);
    reached(&mut client, &id, "cancelled").await;
    assert!(office.notes().is_empty());
}

#[tokio::test]
async fn a_long_call_becomes_a_task_and_a_short_one_does_not() {
    let office = Office::with("", never(answered_by_clients())).await;
    let mut client = Client::open(&office.server, Era::Modern, tasks()).await;
    let result = client.call("clerk__count", json!({ "to": 3 })).await;
    assert_eq!((&result["resultType"], result.get("taskId")), (&json!("complete"), None), "{result}");
    let server = office.server(at_once(answered_by_clients()));
    let mut client = Client::open(&server, Era::Modern, tasks()).await;
    let id = begun(&client.call("clerk__count", json!({ "to": 3 })).await);
    let task = reached(&mut client, &id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "1 2 3 ", "{task}");
    let id = begun(&client.call("clerk__fail", json!({})).await);
    let task = reached(&mut client, &id, "completed").await;
    assert_eq!(task["result"]["isError"], true, "the task of a failed tool is still completed: {task}");
}

#[tokio::test]
async fn a_client_without_tasks_gets_no_task() {
    let office = Office::with("", at_once(answered_by_clients())).await;
    let mut client = Client::open(&office.server, Era::Modern, json!({})).await;
    let result = client.call("clerk__count", json!({ "to": 3 })).await;
    assert_eq!(result["resultType"], "complete", "{result}");
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let response = client.request(method, json!({ "taskId": "x", "inputResponses": {} })).await;
        assert_eq!(response["error"]["code"], -32021, "{response}");
    }
}

#[tokio::test]
async fn a_request_in_a_task_is_answered_by_update() {
    let office = Office::with("", at_once(answered_by_clients())).await;
    let mut client = Client::open(&office.server, Era::Modern, tasks_and_forms()).await;
    let id = begun(&client.call(SIGN, text("x")).await);
    let task = reached(&mut client, &id, "input_required").await;
    assert_eq!(task.get("requestState"), None);
    let requests = task["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    assert!(request["params"]["message"].as_str().unwrap().contains("the seal"), "{request}");
    // An answer to a request that is not open has no effect.
    for responses in [json!({}), json!({ "other": { "action": "accept" } }), json!({ key: 12345 })] {
        is_acknowledged(&update(&mut client, &id, responses).await);
        assert_eq!(get(&mut client, &id).await["status"], "input_required");
    }
    is_acknowledged(&update(&mut client, &id, json!({ key: { "action": "accept" } })).await);
    assert_ne!(get(&mut client, &id).await["status"], "input_required", "the request must be shown only once");
    let task = reached(&mut client, &id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "signed: x", "{task}");
    assert_eq!(office.notes(), ["signed: x"]);
}

#[tokio::test]
async fn a_denial_in_a_task_is_the_tasks_result() {
    let office = Office::with("", at_once(answered_by_clients())).await;
    let mut client = Client::open(&office.server, Era::Modern, tasks_and_forms()).await;
    let id = begun(&client.call(SIGN, text("x")).await);
    let task = reached(&mut client, &id, "input_required").await;
    let key = task["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    update(&mut client, &id, json!({ key: { "action": "decline" } })).await;
    let task = reached(&mut client, &id, "completed").await;
    assert_eq!(task["result"]["isError"], true, "{task}");
    assert!(office.notes().is_empty());
}

#[tokio::test]
async fn an_approval_request_before_a_call_uses_rounds_and_the_call_continues_as_a_task() {
    let office = Office::with("", never(answered_by_clients())).await;
    let mut client = Client::open(&office.server, Era::Modern, tasks_and_forms()).await;
    let asked = client.call(NOTE, text("x")).await;
    assert_eq!((&asked["resultType"], asked.get("taskId")), (&json!("input_required"), None), "{asked}");
    client.declare(tasks());
    // The client does not ask its user again, so the call waits for other channels, as a task.
    let result = client.retry(NOTE, text("x"), &asked["requestState"], json!({})).await;
    let id = begun(&result);
    let question = office.question().await;
    office.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    reached(&mut client, &id, "completed").await;
    assert_eq!(office.notes(), ["x"]);
}

#[tokio::test]
async fn a_cancelled_task_stops_its_guest_and_is_acknowledged_again() {
    let office = Office::with("", at_once(answered_by_clients())).await;
    let mut client = Client::open(&office.server, Era::Modern, tasks()).await;
    let id = begun(&client.call(WAIT, json!({})).await);
    let late = Instant::now() + PATIENCE;
    while office.notes().is_empty() {
        assert!(Instant::now() < late, "the call never started");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(get(&mut client, &id).await["status"], "working");
    is_acknowledged(&cancel(&mut client, &id).await);
    let task = reached(&mut client, &id, "cancelled").await;
    assert!(task.get("result").is_none() && task.get("error").is_none(), "{task}");
    office.ended(&["cancelled"]).await;
    is_acknowledged(&cancel(&mut client, &id).await);
    assert_eq!(get(&mut client, &id).await["status"], "cancelled");
}

#[tokio::test]
async fn a_task_outlives_its_connection() {
    let office = Office::with("", never(answered_elsewhere())).await;
    let mut client = Client::open(&office.server, Era::Modern, tasks()).await;
    let id = begun(&client.call(NOTE, text("x")).await);
    drop(client);
    let mut client = Client::open(&office.server, Era::Modern, tasks()).await;
    let unknown = "0".repeat(32);
    is_unknown(&get(&mut client, &unknown).await);
    is_unknown(&update(&mut client, &unknown, json!({})).await);
    is_unknown(&cancel(&mut client, &unknown).await);
    assert_eq!(get(&mut client, &id).await["status"], "working");
    office.approvals().answer(&office.question().await.id, &Answer::Yes).await.unwrap();
    reached(&mut client, &id, "completed").await;
    assert_eq!(office.notes(), ["x"]);
}

#[tokio::test]
async fn the_number_of_tasks_is_limited() {
    let office = Office::with("", at_once(answered_elsewhere())).await;
    let mut client = Client::open(&office.server, Era::Modern, tasks()).await;
    let mut ids = Vec::new();
    for _ in 0..64 {
        ids.push(begun(&client.call(WAIT, json!({})).await));
    }
    // One more call stays with its request, and becomes a task when the others have ended.
    let call = client.begin_call("clerk__count", json!({ "to": 3 })).await;
    for id in &ids {
        is_acknowledged(&cancel(&mut client, id).await);
    }
    let result = client.response(call).await;
    assert_eq!((&result["resultType"], result.get("taskId")), (&json!("complete"), None), "{result}");
}
