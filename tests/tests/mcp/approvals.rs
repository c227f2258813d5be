//! Approval requests of calls over MCP: who can answer them, what an answer covers, and that a call runs once.

use crate::asking::client::{Client, Era};
use crate::asking::office::{Office, answered_by_clients, answered_elsewhere};
use portcullis::Answer;
use portcullis_mcp::ServerOptions;
use serde_json::{Value, json};
use std::time::Duration;

const NOTE: &str = "clerk__note";
const SIGN: &str = "clerk__sign";

fn forms() -> Value {
    json!({ "elicitation": {} })
}

fn text(words: &str) -> Value {
    json!({ "text": words })
}

/// Returns the text of a result.
fn said(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

/// Returns the single input request of a result: its key and its form.
fn asks(result: &Value) -> (String, Value) {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let requests = result["inputRequests"].as_object().unwrap();
    assert_eq!(requests.len(), 1, "{result}");
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create", "{result}");
    (key.clone(), request["params"].clone())
}

/// Returns an approving response under a key.
fn yes(key: &str) -> Value {
    json!({ key: { "action": "accept", "content": {} } })
}

fn is_refused(response: &Value) {
    assert_eq!(response["error"]["code"], -32602, "{response}");
}

async fn answer_asked(client: &mut Client, result: Value) {
    let asked = client.asked().await;
    assert_eq!(asked["method"], "elicitation/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })).await;
}

#[tokio::test]
async fn an_elicited_yes_lets_the_call_run() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let call = client.begin_call(NOTE, text("a\u{202e}b")).await;
    let asked = client.asked().await;
    let params = &asked["params"];
    let message = params["message"].as_str().unwrap();
    assert!(message.contains("clerk.note") && message.contains("a\\u{202e}b"), "{message}");
    assert!(!message.contains('\u{202e}'), "{message}");
    assert_eq!(params["requestedSchema"].get("required"), None, "{params}");
    assert!(office.notes().is_empty(), "nothing runs before the answer");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept", "content": {} } })).await;
    let result = client.response(call).await;
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(office.notes(), ["a\u{202e}b"]);
}

#[tokio::test]
async fn an_elicited_answer_that_does_not_approve_denies_the_call() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let answers = [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "content": { "remember": "forever" } }),
        json!({ "action": "accept", "content": "yes" }),
        json!({ "action": "agree", "content": {} }),
        json!({}),
        json!({ "content": {} }),
    ];
    for (number, answer) in answers.into_iter().enumerate() {
        // Each answer gets its own session, so that no denial affects the next.
        let options = ServerOptions { session: Some(format!("s{number}")), ..answered_by_clients() };
        let mut client = Client::open(&office.server(options), Era::Legacy, forms()).await;
        let call = client.begin_call(NOTE, text("x")).await;
        answer_asked(&mut client, answer.clone()).await;
        let result = client.response(call).await;
        assert_eq!(result["isError"], true, "{answer}: {result}");
    }
    let call = client.begin_call(NOTE, text("x")).await;
    let asked = client.asked().await;
    let error = json!({ "code": -32601, "message": "I have no forms" });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error })).await;
    assert_eq!(client.response(call).await["isError"], true);
    assert!(office.notes().is_empty());
}

#[tokio::test]
async fn a_note_with_a_denial_reaches_the_model() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let call = client.begin_call(NOTE, text("x")).await;
    answer_asked(&mut client, json!({ "action": "decline", "content": { "note": "not on a Sunday" } })).await;
    let result = client.response(call).await;
    assert!(said(&result).contains("not on a Sunday"), "{result}");
}

#[tokio::test]
async fn a_remembered_approval_is_not_requested_again() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let call = client.begin_call(NOTE, text("x")).await;
    answer_asked(&mut client, json!({ "action": "accept", "content": { "remember": "session" } })).await;
    client.response(call).await;
    let result = client.call(NOTE, text("x")).await;
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(office.notes(), ["x", "x"]);
    let call = client.begin_call(NOTE, text("y")).await;
    answer_asked(&mut client, json!({ "action": "decline" })).await;
    assert_eq!(client.response(call).await["isError"], true);
}

#[tokio::test]
async fn a_running_call_also_asks_by_elicitation() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let call = client.begin_call(SIGN, text("x")).await;
    let asked = client.asked().await;
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("the seal") && message.contains("The tool says: a signature binds the house"),
        "{message}"
    );
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept" } })).await;
    assert_ne!(client.response(call).await["isError"], true);
    assert_eq!(office.notes(), ["signed: x"]);
}

#[tokio::test]
async fn the_first_answer_of_any_channel_counts_and_closes_the_form() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let call = client.begin_call(NOTE, text("x")).await;
    let asked = client.asked().await;
    let question = office.question().await;
    office.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    assert_ne!(client.response(call).await["isError"], true);
    let closed = client.notified("notifications/cancelled").await;
    assert_eq!(closed["params"]["requestId"], asked["id"]);
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept" } })).await;
    client.request("ping", json!({})).await;
    assert_eq!(office.notes(), ["x"]);
}

#[tokio::test]
async fn a_client_whose_answers_do_not_count_is_never_asked() {
    let office = Office::with("", answered_elsewhere()).await;
    for era in [Era::Legacy, Era::Modern] {
        let mut client = Client::open(&office.server, era, forms()).await;
        let call = client.begin_call(NOTE, text("x")).await;
        let progress = client.notified("notifications/progress").await;
        let question = office.question().await;
        let message = progress["params"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("portcullis approvals approve {}", question.id)), "{message}");
        office.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
        let result = client.response(call).await;
        assert_ne!(result["isError"], true, "{result}");
        assert!(client.overheard().all(|message| message["method"] != "elicitation/create"));
    }
    assert_eq!(office.notes(), ["x", "x"]);
}

#[tokio::test]
async fn a_client_that_declares_no_forms_is_never_asked() {
    let office = Office::open().await;
    for (era, capabilities) in [
        (Era::Legacy, json!({})),
        (Era::Modern, json!({})),
        (Era::Modern, json!({ "elicitation": { "url": {} } })),
        (Era::Modern, json!({ "sampling": {} })),
    ] {
        let mut client = Client::open(&office.server, era, capabilities.clone()).await;
        let call = client.begin_call(NOTE, text("x")).await;
        let question = office.question().await;
        office.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
        assert_eq!(said(&client.response(call).await), "kept: x", "{capabilities}");
        assert!(client.overheard().all(|message| message["method"] != "elicitation/create"), "{capabilities}");
    }
}

/// A client that neither asks its user nor waits for a task times out after a minute. It gets a result before.
#[tokio::test]
async fn a_client_that_cannot_wait_gets_the_request_and_calls_again_after_the_approval() {
    let options = ServerOptions { approval_wait: Duration::ZERO, ..answered_elsewhere() };
    let office = Office::with("", options).await;
    for (era, word) in [(Era::Legacy, "x"), (Era::Modern, "y")] {
        let mut client = Client::open(&office.server, era, json!({})).await;
        let result = client.call(NOTE, text(word)).await;
        let question = office.question().await;
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["_meta"]["portcullis/approval-request"], question.id, "{result}");
        assert!(said(&result).contains(&format!("portcullis approvals approve {}", question.id)), "{result}");
        assert_eq!(client.call(NOTE, text(word)).await["_meta"]["portcullis/approval-request"], question.id);
        office.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
        assert_eq!(said(&client.call(NOTE, text(word)).await), format!("kept: {word}"));
    }
    assert_eq!(office.notes(), ["x", "y"]);
}

/// A client that asks its user, or waits for a task, gets no early result.
#[tokio::test]
async fn a_client_that_can_ask_its_user_gets_no_early_result() {
    let options = ServerOptions { approval_wait: Duration::ZERO, ..answered_by_clients() };
    let office = Office::with("", options).await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let call = client.begin_call(NOTE, text("x")).await;
    answer_asked(&mut client, json!({ "action": "accept" })).await;
    assert_eq!(said(&client.response(call).await), "kept: x");
}

/// A form cannot show the rest of a cut text, so the client is not asked with one.
#[tokio::test]
async fn a_form_that_would_be_cut_is_not_shown() {
    let options = ServerOptions { approval_wait: Duration::ZERO, ..answered_by_clients() };
    let office = Office::with("", options).await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let result = client.call(NOTE, text(&format!("ls{}; rm -rf /", "-".repeat(5000)))).await;
    assert!(said(&result).contains("waits for a person's approval"), "{result}");
    let call = client.begin_call(NOTE, text(&format!("ls{}; rm -rf /", " ".repeat(1500)))).await;
    let asked = client.asked().await;
    assert!(asked["params"]["message"].as_str().unwrap().contains("ls[1500 blanks]; rm -rf /"), "{asked}");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } })).await;
    assert_eq!(client.response(call).await["isError"], true);
}

#[tokio::test]
async fn without_an_approver_a_call_is_denied_immediately() {
    let office = Office::with("unattended = \"deny\"", answered_elsewhere()).await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let result = client.call(NOTE, text("x")).await;
    assert!(result["isError"] == true && said(&result).contains("no approver is connected"), "{result}");
}

/// `serve` opens its host for answers from other terminals. The policy overrides that.
#[tokio::test]
async fn a_host_answered_from_other_terminals_denies_what_the_policy_leaves_unattended() {
    for (era, capabilities) in [
        (Era::Legacy, json!({})),
        (Era::Legacy, forms()),
        (Era::Modern, json!({})),
        (Era::Modern, forms()),
        (Era::Modern, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })),
    ] {
        let office = Office::serving("unattended = \"deny\"", answered_elsewhere()).await;
        let mut client = Client::open(&office.server, era, capabilities.clone()).await;
        let result = client.call(NOTE, text("x")).await;
        assert!(
            result["isError"] == true && said(&result).contains("no approver is connected"),
            "{capabilities}: {result}"
        );
        assert!(office.notes().is_empty());
        assert!(office.approvals().list_all().await.unwrap().questions.is_empty(), "{capabilities}");
    }
}

#[tokio::test]
async fn a_form_that_does_not_fit_is_denied_immediately_without_another_approver() {
    for era in [Era::Legacy, Era::Modern] {
        let office = Office::serving("unattended = \"deny\"", answered_by_clients()).await;
        let mut client = Client::open(&office.server, era, forms()).await;
        let result = client.call(NOTE, text(&"x".repeat(5000))).await;
        assert!(result["isError"] == true && said(&result).contains("no approver is connected"), "{result}");
        assert!(office.notes().is_empty());
    }
}

#[tokio::test]
async fn a_request_that_no_one_answers_in_time_is_denied() {
    let office = Office::with("[limits]\napproval-time = \"50 ms\"", answered_elsewhere()).await;
    let mut client = Client::open(&office.server, Era::Modern, json!({})).await;
    let result = client.call(NOTE, text("x")).await;
    assert!(result["isError"] == true && said(&result).contains("no answer came in time"), "{result}");
    assert!(office.notes().is_empty());
}

#[tokio::test]
async fn a_request_that_a_form_cannot_show_completely_is_not_elicited() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let call = client.begin_call(NOTE, text(&"x".repeat(5000))).await;
    client.notified("notifications/progress").await;
    let question = office.question().await;
    office.approvals().answer(&question.id, &Answer::No { note: None }).await.unwrap();
    assert_eq!(client.response(call).await["isError"], true);
    assert!(client.overheard().all(|message| message["method"] != "elicitation/create"));
}

#[tokio::test]
async fn a_retry_with_an_approval_runs_the_call_once() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let asked = client.call(NOTE, text("x")).await;
    let (key, form) = asks(&asked);
    assert!(form["message"].as_str().unwrap().contains("clerk.note"), "{form}");
    assert!(office.notes().is_empty());
    let responses = json!({ &key: { "action": "accept", "content": { "name": "Alice" } }, "other": 7 });
    let result = client.retry(NOTE, text("x"), &asked["requestState"], responses.clone()).await;
    assert_eq!(said(&result), "kept: x", "{result}");
    is_refused(&client.retry(NOTE, text("x"), &asked["requestState"], responses).await);
    assert_eq!(office.notes(), ["x"]);
    office.ended(&["completed"]).await;
}

#[tokio::test]
async fn only_one_of_two_concurrent_retries_runs_the_call() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let asked = client.call(NOTE, text("x")).await;
    let responses = yes(&asks(&asked).0);
    let mut ids = Vec::new();
    for _ in 0..8 {
        ids.push(client.begin_retry(NOTE, text("x"), &asked["requestState"], responses.clone()).await);
    }
    let mut completed = 0;
    for id in ids {
        let response = client.response(id).await;
        completed += usize::from(response.get("content").is_some());
    }
    assert_eq!((completed, office.notes()), (1, vec!["x".to_owned()]));
}

#[tokio::test]
async fn a_retry_with_a_denial_ends_the_call() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    for answer in [json!({ "action": "decline" }), json!({ "action": "cancel" })] {
        let asked = client.call(NOTE, text("x")).await;
        let responses = json!({ asks(&asked).0: answer });
        let result = client.retry(NOTE, text("x"), &asked["requestState"], responses).await;
        assert_eq!(result["isError"], true, "{result}");
    }
    assert!(office.notes().is_empty());
}

#[tokio::test]
async fn a_state_is_valid_only_for_its_own_request() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let asked = client.call(NOTE, text("x")).await;
    let (responses, state) = (yes(&asks(&asked).0), asked["requestState"].clone());
    // A modified state.
    let whole = state.as_str().unwrap();
    for at in [0, whole.len() / 2, whole.len() - 1] {
        let mut altered = whole.as_bytes().to_vec();
        altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
        let altered = json!(String::from_utf8(altered).unwrap());
        is_refused(&client.retry(NOTE, text("x"), &altered, responses.clone()).await);
    }
    is_refused(&client.retry(NOTE, text("x"), &json!(format!("{whole}-TAMPERED")), responses.clone()).await);
    is_refused(&client.retry(NOTE, text("x"), &json!(""), responses.clone()).await);
    // Other arguments, and another tool.
    is_refused(&client.retry(NOTE, text("y"), &state, responses.clone()).await);
    is_refused(&client.retry(SIGN, text("x"), &state, responses.clone()).await);
    // Another principal, and another server.
    let eve = ServerOptions { principal: "eve".parse().unwrap(), ..answered_by_clients() };
    for server in [office.server(eve), office.server(answered_by_clients())] {
        let mut other = Client::open(&server, Era::Modern, forms()).await;
        is_refused(&other.retry(NOTE, text("x"), &state, responses.clone()).await);
    }
    assert!(office.notes().is_empty());
    // None of these attempts has consumed the state.
    let result = client.retry(NOTE, text("x"), &state, responses).await;
    assert_eq!(said(&result), "kept: x", "{result}");
}

#[tokio::test]
async fn an_answer_without_a_state_is_ignored() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let key = asks(&client.call(NOTE, text("x")).await).0;
    for responses in [yes(&key), yes("wrong"), json!({ &key: 12345 }), json!(null)] {
        let params = json!({ "name": NOTE, "arguments": text("x"), "inputResponses": responses });
        let response = client.request("tools/call", params).await;
        asks(&response);
    }
    assert!(office.notes().is_empty());
}

#[tokio::test]
async fn a_retry_without_an_answer_is_asked_again() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let mut asked = client.call(NOTE, text("x")).await;
    let (key, _) = asks(&asked);
    for responses in [json!({}), yes("wrong"), json!({ &key: 12345 }), json!({ &key: { "action": "perhaps" } })] {
        let again = client.retry(NOTE, text("x"), &asked["requestState"], responses).await;
        asks(&again);
        assert_ne!(again["requestState"], asked["requestState"]);
        asked = again;
    }
    assert_eq!(office.questions().len(), 1, "the retries share one call and one approval request");
    let result = client.retry(NOTE, text("x"), &asked["requestState"], yes(&key)).await;
    assert_eq!(said(&result), "kept: x", "{result}");
}

#[tokio::test]
async fn a_running_call_asks_in_rounds() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let asked = client.call(SIGN, text("x")).await;
    let (key, form) = asks(&asked);
    assert!(form["message"].as_str().unwrap().contains("the seal"), "{form}");
    let result = client.retry(SIGN, text("x"), &asked["requestState"], yes(&key)).await;
    assert_eq!(said(&result), "signed: x", "{result}");
    assert_eq!(office.notes(), ["signed: x"]);
}

#[tokio::test]
async fn an_answer_from_another_channel_counts_between_rounds() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let asked = client.call(NOTE, text("x")).await;
    let (key, _) = asks(&asked);
    let question = office.question().await;
    office.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    office.ended(&["completed"]).await;
    // The client's answer now arrives too late and has no effect.
    let responses = json!({ key: { "action": "decline" } });
    let result = client.retry(NOTE, text("x"), &asked["requestState"], responses).await;
    assert_eq!(said(&result), "kept: x", "{result}");
    assert_eq!(office.notes(), ["x"]);
}

#[tokio::test]
async fn a_client_that_does_not_return_in_time_counts_as_a_denial() {
    let office = Office::with("[limits]\napproval-time = \"300 ms\"", answered_by_clients()).await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let asked = client.call(NOTE, text("x")).await;
    let (key, _) = asks(&asked);
    office.ended(&["approval-denied"]).await;
    let result = client.retry(NOTE, text("x"), &asked["requestState"], yes(&key)).await;
    assert!(result["isError"] == true && said(&result).contains("no answer came in time"), "{result}");
    assert!(office.notes().is_empty());
}

#[tokio::test]
async fn a_retry_that_is_cancelled_cancels_the_call() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let asked = client.call(NOTE, text("x")).await;
    // The retry carries no answer, and the client declares no capability any more, so the call waits for other
    // channels.
    client.declare(json!({}));
    let retry = client.begin_retry(NOTE, text("x"), &asked["requestState"], json!({})).await;
    let cancelled = json!({ "requestId": retry });
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled })).await;
    office.ended(&["cancelled"]).await;
    office.withdrawn().await;
    assert!(office.notes().is_empty());
}

#[tokio::test]
async fn the_number_of_open_requests_per_client_is_limited() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    let mut asked = Vec::new();
    for number in 0..25 {
        asked.push(client.call(NOTE, text(&number.to_string())).await);
        asks(&asked[number]);
    }
    // The next request waits until one is answered.
    let call = client.begin_call(NOTE, text("one more")).await;
    let key = asks(&asked[0]).0;
    let result = client.retry(NOTE, text("0"), &asked[0]["requestState"], yes(&key)).await;
    assert_eq!(said(&result), "kept: 0", "{result}");
    asks(&client.response(call).await);
}

#[tokio::test]
async fn a_server_that_stops_cancels_its_waiting_calls() {
    let office = Office::open().await;
    let server = office.server(answered_by_clients());
    let mut client = Client::open(&server, Era::Modern, forms()).await;
    asks(&client.call(NOTE, text("x")).await);
    drop((client, server));
    office.ended(&["cancelled"]).await;
    office.withdrawn().await;
}
