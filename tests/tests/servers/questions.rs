//! The questions that a server asks its user during a call.

use crate::servers::desk::{ALLOW, Desk, call};
use portcullis::{Code, Host, Reply};
use portcullis_tests::assert_verifies;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ASK: &str = "elicitation = \"ask\"\nlimits = { time = \"2 s\" }";

fn question(message: &str, properties: &Value, required: &[&str]) -> Value {
    json!({ "message": message, "requestedSchema": {
        "type": "object", "properties": properties, "required": required } })
}

/// What an approver was shown.
type Shown = Arc<Mutex<Vec<String>>>;

/// Opens a host whose approver takes longer than a call may, and then says this.
async fn open(desk: &Desk, lines: &str, answer: portcullis::Answer) -> (Host, Shown) {
    let shown = Shown::default();
    let seen = Arc::clone(&shown);
    let approver = portcullis::approver_fn(move |question| {
        seen.lock().unwrap().push(format!("{question:?}"));
        let answer = answer.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(2500)).await;
            answer
        }
    });
    let policy = crate::servers::desk::policy(lines, ALLOW);
    (desk.site.builder(&policy).approver(approver).open().await.unwrap(), shown)
}

/// Returns the entries of a call in the audit log.
fn log(desk: &Desk, call: &str) -> String {
    let log = std::fs::read_to_string(desk.site.state().join("audit.jsonl")).unwrap();
    log.lines().filter(|line| line.contains(call)).collect::<Vec<_>>().join("\n")
}

async fn elicit(host: &Host, asked: Value) -> (Reply, Value) {
    let reply = call(host, "elicit", asked).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let answer = serde_json::from_str(&reply.message).unwrap();
    (reply, answer)
}

#[tokio::test]
async fn a_person_answers_a_question_of_a_server_and_the_time_of_the_call_stands_still() {
    let desk = Desk::new(&["elicit"]);
    let (host, shown) = open(&desk, ASK, portcullis::Answer::Yes).await;
    let asked = question("Delete 3 notes?\u{1b}[2J", &json!({ "sure": { "type": "boolean" } }), &["sure"]);
    let (reply, answer) = elicit(&host, asked).await;
    assert_eq!(answer, json!({ "action": "accept", "content": { "sure": true } }));
    let shown = shown.lock().unwrap().join("\n");
    assert!(shown.contains("Delete 3 notes?") && shown.contains("sure") && !shown.contains('\u{1b}'), "{shown}");
    assert!(log(&desk, &reply.id).contains("Delete 3 notes?"), "the answer is recorded");
    assert_verifies(&host);
}

#[tokio::test]
async fn a_question_that_a_person_denies_is_declined() {
    let desk = Desk::new(&["elicit"]);
    let (host, shown) = open(&desk, ASK, portcullis::Answer::No { note: None }).await;
    let (_, answer) = elicit(&host, question("Go on?", &json!({}), &[])).await;
    assert_eq!(answer, json!({ "action": "decline" }));
    assert_eq!(shown.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_question_that_a_yes_does_not_answer_is_declined_and_recorded() {
    let desk = Desk::new(&["elicit"]);
    let (host, shown) = open(&desk, ASK, portcullis::Answer::Yes).await;
    let asked = question("Your name?", &json!({ "name": { "type": "string" } }), &["name"]);
    let (reply, answer) = elicit(&host, asked).await;
    assert_eq!(answer, json!({ "action": "decline" }));
    assert!(shown.lock().unwrap().is_empty());
    drop(host);
    let log = log(&desk, &reply.id);
    assert!(log.contains("Your name?") && log.contains("needs more than a yes"), "{log}");
}

#[tokio::test]
async fn without_the_policys_word_no_person_is_asked() {
    let desk = Desk::new(&["elicit"]);
    let (host, shown) = open(&desk, "", portcullis::Answer::Yes).await;
    let (_, answer) = elicit(&host, question("Go on?", &json!({}), &[])).await;
    assert_eq!(answer, json!({ "action": "decline" }));
    assert!(shown.lock().unwrap().is_empty());
}
