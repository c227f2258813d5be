//! A server of the modern era: no handshake, changes for subscribers only, and questions as a part of an answer.

use crate::process::{AskedUser, ServerProcess, arguments, grow, limits, text, within};
use portcullis_definitions::manifest::Output;
use portcullis_upstream::{
    ElicitationForm, RefuseRequests, ServerCall, ServerEra, ServerError, ServerProgress, ServerRequest, ServerRequests,
    connect_in_era,
};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn soon() -> ServerCall {
    within(Duration::from_secs(30))
}

#[tokio::test]
async fn it_is_recognized_and_called() {
    let mut server = ServerProcess::modern();
    let client = server.connect(limits()).await.unwrap();
    assert_eq!(client.identity().protocol, "2026-07-28");
    assert_eq!(client.identity().name.as_deref(), Some("modern"));
    assert_eq!(client.identity().instructions.as_deref(), Some("Use it with care."));
    let tools = client.tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "add" && tool.output_schema.is_some()));
    let call = ServerCall { has_output_schema: true, ..soon() };
    let answer = client.call("add", arguments(json!({"a": 2, "b": 3})), call).await.unwrap().unwrap();
    let Output::Json(sum) = answer.output else { panic!("{answer:?}") };
    assert_eq!(serde_json::from_str::<Value>(&sum).unwrap(), json!({"result": 5}));
}

#[tokio::test]
async fn its_progress_is_reported() {
    let mut server = ServerProcess::modern();
    let client = server.connect(limits()).await.unwrap();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&reports);
    let listener = Box::new(move |progress: ServerProgress| heard.lock().unwrap().push(progress));
    let call = ServerCall { on_progress: Some(listener), ..soon() };
    assert_eq!(text(client.call("count", arguments(json!({"steps": 4})), call).await), "counted");
    let reports = reports.lock().unwrap();
    assert!(reports.len() >= 2 && reports[0].message.as_deref() == Some("counting"), "{reports:?}");
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once() {
    let mut server = ServerProcess::modern();
    let client = server.connect(limits()).await.unwrap();
    let begun = Instant::now();
    let answer = client.call("sleep", Map::new(), within(Duration::from_millis(300))).await;
    assert!(matches!(answer, Err(ServerError::Timeout)), "{answer:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(text(client.call("count", arguments(json!({"steps": 1})), soon()).await), "counted");
}

#[tokio::test]
async fn a_change_of_its_tools_is_reported() {
    let mut server = ServerProcess::modern();
    let client = server.connect(limits()).await.unwrap();
    let before = client.tools().await.unwrap().len();
    grow(&client).await;
    assert_eq!(client.tools().await.unwrap().len(), before + 1);
}

#[tokio::test]
async fn a_question_in_an_answer_is_answered() {
    let user = Arc::new(AskedUser::default());
    let mut server = ServerProcess::modern();
    let client = server.connect_for(limits(), Arc::clone(&user) as Arc<dyn ServerRequests>).await.unwrap();
    assert_eq!(text(client.call("greet", Map::new(), soon()).await), "accept Ada");
    let requests = user.requests.lock().unwrap();
    let ServerRequest::Elicitation(question) = &requests[0] else { panic!("{requests:?}") };
    assert_eq!(question.message, "Who?");
    assert!(matches!(&question.form, ElicitationForm::Fields(schema) if schema["required"] == json!(["name"])));
}

#[tokio::test]
async fn a_client_that_answers_no_question_is_not_asked() {
    let mut server = ServerProcess::modern();
    let client = server.connect(limits()).await.unwrap();
    let answer = client.call("greet", Map::new(), soon()).await;
    assert!(matches!(answer, Err(ServerError::Refused { .. }) | Ok(Err(_))), "{answer:?}");
}

#[tokio::test]
async fn the_era_can_be_chosen() {
    for (era, protocol) in [(ServerEra::Modern, "2026-07-28"), (ServerEra::Handshake, "2025-11-25")] {
        let mut server = ServerProcess::modern();
        let refuse = Arc::new(RefuseRequests::default());
        let client = connect_in_era(server.streams(), limits(), refuse, era).await.unwrap();
        assert_eq!(client.identity().protocol, protocol);
        assert_eq!(text(client.call("count", arguments(json!({"steps": 1})), soon()).await), "counted");
    }
}
