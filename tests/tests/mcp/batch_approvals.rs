//! Approval requests of the calls of a batch over MCP: the client is asked about one at a time.

use crate::asking::client::{Client, Era};
use crate::asking::office::{Office, answered_by_clients, answered_elsewhere};
use portcullis::Answer;
use serde_json::{Value, json};

const BATCH: &str = "tools__batch";

/// Builds a batch of notes. The clerk keeps them only with approval.
fn notes(texts: &[&str]) -> Value {
    let note = |text: &&str| json!({ "tool": "clerk__note", "arguments": { "text": text } });
    json!({ "calls": texts.iter().map(note).collect::<Vec<Value>>() })
}

fn codes(result: &Value) -> Vec<&str> {
    let facts = result["_meta"]["portcullis/metadata"]["results"].as_array().unwrap_or_else(|| panic!("{result}"));
    facts.iter().map(|facts| facts["code"].as_str().unwrap()).collect()
}

/// The policy of the office asks about everything that it does not allow, so it also asks about the batch. The answer
/// counts for the batch only.
const ALLOW_BATCH: &str = "[[rule]]\ntool = \"tools.batch\"\ndecision = \"allow\"\n";

async fn office() -> Office {
    Office::with(ALLOW_BATCH, answered_by_clients()).await
}

#[tokio::test]
async fn a_client_with_forms_is_asked_about_one_call_at_a_time() {
    let office = office().await;
    let mut client = Client::open(&office.server, Era::Legacy, json!({ "elicitation": {} })).await;
    let call = client.begin_call(BATCH, notes(&["first", "second", "third"])).await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        let form = client.asked().await;
        let message = form["params"]["message"].as_str().unwrap().to_owned();
        let action = if message.contains("second") { "decline" } else { "accept" };
        assert_eq!(office.notes().len(), asked.iter().filter(|text: &&String| !text.contains("second")).count());
        asked.push(message);
        let answer = json!({ "action": action, "content": {} });
        client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": answer })).await;
        let kept = asked.iter().filter(|text| !text.contains("second")).count();
        while office.notes().len() < kept {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
    let result = client.response(call).await;
    assert_eq!(codes(&result), ["completed", "approval-denied", "completed"]);
    let mut kept = office.notes();
    kept.sort();
    assert_eq!(kept, ["first", "third"]);
}

#[tokio::test]
async fn a_client_that_retries_is_asked_about_one_call_after_the_other() {
    let office = office().await;
    let mut client = Client::open(&office.server, Era::Modern, json!({ "elicitation": {} })).await;
    let calls = notes(&["first", "second"]);
    let mut result = client.call(BATCH, calls.clone()).await;
    for _ in 0..2 {
        assert_eq!(result["resultType"], "input_required", "{result}");
        let (key, form) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
        let is_second = form["params"]["message"].as_str().unwrap().contains("second");
        let action = if is_second { "decline" } else { "accept" };
        let answer = json!({ key: { "action": action, "content": {} } });
        let state = result["requestState"].clone();
        result = client.retry(BATCH, calls.clone(), &state, answer).await;
    }
    assert_eq!(codes(&result), ["completed", "approval-denied"]);
    assert_eq!(office.notes(), ["first"]);
}

/// Other channels can answer all requests, in any order.
#[tokio::test]
async fn other_channels_answer_the_requests_of_a_batch() {
    let office = Office::with(ALLOW_BATCH, answered_elsewhere()).await;
    let mut client = Client::open(&office.server, Era::Legacy, json!({})).await;
    let call = client.begin_call(BATCH, notes(&["first", "second"])).await;
    let open = loop {
        let open: Vec<_> = office.questions().into_iter().filter(|question| question.status.is_open()).collect();
        if open.len() == 2 {
            break open;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    for question in open.iter().rev() {
        office.host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
    }
    assert_eq!(codes(&client.response(call).await), ["completed", "completed"]);
    assert_eq!(office.notes().len(), 2);
}
