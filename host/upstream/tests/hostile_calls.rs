//! Calls whose server misbehaves.

use crate::process::{
    AskedUser, MEMORY_MARGIN, ServerProcess, hostile, limits, memory, peak_memory, run, text, within,
};
use portcullis_upstream::{
    CloseReason, ElicitationForm, RefuseRequests, ServerCall, ServerError, ServerProgress, ServerRequest,
    ServerRequests,
};
use serde_json::{Map, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_result_that_is_too_large_fails_the_call_alone() {
    let (client, _server) = hostile("huge-result").await;
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::ResultTooLarge { bytes: 12_000_000, .. })), "{answer:?}");
    assert!(client.tools().await.is_ok());
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_the_connection() {
    let before = memory();
    let (client, _server) = hostile("too-long-message").await;
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::Closed(CloseReason::MessageTooLong { .. }))), "{answer:?}");
    assert!(peak_memory() < before + MEMORY_MARGIN);
}

#[tokio::test]
async fn malformed_answers_fail_the_call_at_once() {
    for mode in ["malformed-result", "unknown-block", "wrong-kind", "malformed-error", "bad-base64"] {
        let (client, _server) = hostile(mode).await;
        let answer = run(&client).await;
        assert!(matches!(answer, Err(ServerError::Malformed { .. })), "{mode}: {answer:?}");
        assert!(client.tools().await.is_ok(), "{mode}");
    }
}

#[tokio::test]
async fn an_answer_with_too_many_values_is_not_read() {
    let (client, _server) = hostile("values").await;
    let before = memory();
    let listed = client.tools().await;
    assert!(matches!(&listed, Err(ServerError::Malformed { problem }) if problem.contains("500000")), "{listed:?}");
    assert!(peak_memory() < before + MEMORY_MARGIN);
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_deadline_and_is_cancelled() {
    for mode in ["never-answers", "wrong-id"] {
        let (client, server) = hostile(mode).await;
        let answer = client.call("run", Map::new(), within(Duration::from_millis(300))).await;
        assert!(matches!(answer, Err(ServerError::Timeout)), "{mode}: {answer:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        client.shutdown().await;
        assert!(server.errors().await.contains("cancelled"), "{mode}");
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let (client, server) = hostile("never-answers").await;
    let call = client.call("run", Map::new(), within(Duration::from_secs(30)));
    assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
    tokio::time::sleep(Duration::from_millis(200)).await;
    client.shutdown().await;
    assert!(server.errors().await.contains("cancelled"));
}

#[tokio::test]
async fn a_late_answer_and_a_second_one_are_dropped() {
    let (client, _server) = hostile("answers-late").await;
    let answer = client.call("run", Map::new(), within(Duration::from_millis(200))).await;
    assert!(matches!(answer, Err(ServerError::Timeout)), "{answer:?}");
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(text(run(&client).await), "second");

    let (client, _server) = hostile("answers-twice").await;
    for number in 1..=3 {
        assert_eq!(text(run(&client).await), format!("first {number}"));
    }
}

#[tokio::test]
async fn an_answer_with_its_id_as_text_is_accepted() {
    let (client, _server) = hostile("text-id").await;
    assert_eq!(text(run(&client).await), "done");
}

#[tokio::test]
async fn a_server_that_exits_during_a_call_fails_it_at_once() {
    for mode in ["exits", "closes-output"] {
        let (client, _server) = hostile(mode).await;
        let begun = Instant::now();
        let answer = run(&client).await;
        assert!(matches!(answer, Err(ServerError::Closed(CloseReason::EndOfOutput))), "{mode}: {answer:?}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{mode}");
        assert!(matches!(client.closed().await, CloseReason::EndOfOutput));
    }
}

#[tokio::test]
async fn an_answer_before_an_exit_counts() {
    let (client, _server) = hostile("answers-and-exits").await;
    assert_eq!(text(run(&client).await), "last words");
    assert!(matches!(client.closed().await, CloseReason::EndOfOutput));
}

#[tokio::test]
async fn an_error_of_the_protocol_is_reported_and_cut() {
    let (client, _server) = hostile("refuses").await;
    match run(&client).await {
        Err(ServerError::Refused { code: -32602, message }) => assert_eq!(message.len(), 4096),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_error_of_the_host_for_a_malformed_answer_is_cut_if_a_server_sends_it() {
    let (client, _server) = hostile("malformed-code").await;
    match run(&client).await {
        Err(ServerError::Malformed { problem }) => assert_eq!(problem.len(), 4096),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_waits_for_its_task_and_replies_to_it() {
    let user = Arc::new(AskedUser::default());
    let mut server = ServerProcess::hostile("task");
    let client = server.connect_for(limits(), Arc::clone(&user) as Arc<dyn ServerRequests>).await.unwrap();
    assert_eq!(text(run(&client).await), "accept after 3");
    assert_eq!(user.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_task_without_end_ends_at_the_deadline_and_is_cancelled() {
    let (client, server) = hostile("endless-task").await;
    let answer = client.call("run", Map::new(), within(Duration::from_millis(500))).await;
    assert!(matches!(answer, Err(ServerError::Timeout)), "{answer:?}");
    tokio::time::sleep(Duration::from_millis(200)).await;
    client.shutdown().await;
    assert!(server.errors().await.contains("task cancelled"));
}

#[tokio::test]
async fn a_flood_of_changes_is_one_change_for_a_slow_reader() {
    let (client, _server) = hostile("changes").await;
    let mut changes = client.changed();
    assert_eq!(*changes.borrow(), 0);
    let before = memory();
    assert_eq!(text(run(&client).await), "done");
    assert!(peak_memory() < before + MEMORY_MARGIN);
    assert!(changes.has_changed().unwrap());
    assert_eq!(*changes.borrow_and_update(), 200_000);
    assert!(!changes.has_changed().unwrap());
}

#[tokio::test]
async fn a_flood_of_log_messages_takes_no_memory() {
    let (client, _server) = hostile("log-flood").await;
    let before = memory();
    assert_eq!(text(run(&client).await), "done");
    assert!(peak_memory() < before + MEMORY_MARGIN);
}

#[tokio::test]
async fn a_flood_of_progress_is_cut_to_the_newest() {
    let (client, _server) = hostile("progress").await;
    let before = memory();
    let newest = Arc::new(Mutex::new(None::<ServerProgress>));
    let heard = Arc::clone(&newest);
    let listener = Box::new(move |progress| *heard.lock().unwrap() = Some(progress));
    let call = ServerCall { on_progress: Some(listener), ..within(Duration::from_secs(60)) };
    assert_eq!(text(client.call("run", Map::new(), call).await), "done");
    assert!(peak_memory() < before + MEMORY_MARGIN);
    let newest = newest.lock().unwrap().take().expect("a report");
    assert!(newest.message.unwrap().len() <= 1024);
}

#[tokio::test]
async fn a_loop_of_sampling_ends_the_call() {
    let requests = Arc::new(RefuseRequests::default());
    let mut server = ServerProcess::hostile("sampling");
    let client = server.connect_for(limits(), Arc::clone(&requests) as Arc<dyn ServerRequests>).await.unwrap();
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::TooManyRequests { max: 32 })), "{answer:?}");
    // The one that is too many gets no reply.
    assert_eq!(requests.refused(), 32);
}

#[tokio::test]
async fn a_loop_of_questions_in_answers_ends_the_call() {
    let user = Arc::new(AskedUser::default());
    let mut server = ServerProcess::hostile("input-loop");
    let client = server.connect_for(limits(), Arc::clone(&user) as Arc<dyn ServerRequests>).await.unwrap();
    let error = run(&client).await.unwrap_err();
    assert!(matches!(error, ServerError::TooManyRounds { max: 10 }), "{error:?}");
    assert!(error.to_string().contains("more than 10 rounds"), "{error}");
    // The user is not asked for an answer that would not be sent.
    assert_eq!(user.requests.lock().unwrap().len(), 10);
}

#[tokio::test]
async fn as_many_rounds_of_input_as_the_limit_get_an_answer() {
    let user = Arc::new(AskedUser::default());
    let mut server = ServerProcess::hostile("ten-rounds");
    let client = server.connect_for(limits(), Arc::clone(&user) as Arc<dyn ServerRequests>).await.unwrap();
    assert_eq!(text(run(&client).await), "done");
    assert_eq!(user.requests.lock().unwrap().len(), 10);
}

#[tokio::test]
async fn sampling_in_an_answer_is_refused() {
    let (client, _server) = hostile("samples-in-answer").await;
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::RequestRefused { what: "a completion of a model" })), "{answer:?}");
}

#[tokio::test]
async fn a_question_to_the_user_is_declined_by_default() {
    let (client, _server) = hostile("elicits").await;
    assert_eq!(text(run(&client).await), json!({"action": "decline"}).to_string());
}

#[tokio::test]
async fn an_answer_of_the_user_reaches_the_server() {
    let asked = Arc::new(AskedUser::default());
    let mut server = ServerProcess::hostile("elicits");
    let client = server.connect_for(limits(), Arc::clone(&asked) as Arc<dyn ServerRequests>).await.unwrap();
    let answer: serde_json::Value = serde_json::from_str(&text(run(&client).await)).unwrap();
    assert_eq!(answer, json!({"action": "accept", "content": {"name": "Ada"}}));
    let asked = asked.requests.lock().unwrap();
    let ServerRequest::Elicitation(question) = &asked[0] else { panic!("{asked:?}") };
    assert_eq!(question.message, "Who?");
    assert!(matches!(&question.form, ElicitationForm::Fields(schema) if schema["type"] == "object"));
}

#[tokio::test]
async fn requests_whose_replies_are_not_read_end_the_connection() {
    let (client, _server) = hostile("pings-unread").await;
    let before = memory();
    let answer = run(&client).await;
    assert!(matches!(answer, Err(ServerError::Closed(CloseReason::UnreadReplies { max: 64 }))), "{answer:?}");
    assert!(peak_memory() < before + MEMORY_MARGIN);
}

#[tokio::test]
async fn a_server_that_stops_reading_ends_the_connection() {
    let (client, _server) = hostile("stops-reading").await;
    let large = || {
        client.call("run", [("x".to_owned(), "x".repeat(1_000_000).into())].into_iter().collect(), {
            within(Duration::from_secs(30))
        })
    };
    let (first, second) = tokio::join!(large(), large());
    for answer in [first, second] {
        assert!(matches!(answer, Err(ServerError::Closed(CloseReason::WriteTimeout { .. }))), "{answer:?}");
    }
}

#[tokio::test]
async fn noise_before_each_answer_does_not_add_up() {
    let (client, _server) = hostile("noise-between").await;
    for _ in 0..100 {
        assert_eq!(text(run(&client).await), "done");
    }
}
