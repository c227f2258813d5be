//! Servers that are busy, fail, close, or send without end.

use crate::sub_agent::desk::{Desk, KEY, Plan, ended};
use crate::sub_agent::model::{calls, responding, response, says};
use portcullis::Code;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_server_is_asked_again() {
    let busy = |status| Behaviour::whole(status, &[("retry-after", "0")], "busy");
    let server = responding([busy(429), busy(503), response(&says("Done."))]);
    let desk = Desk::open(&server).await;
    assert_eq!(ended(&desk.run().await).0, "finished");
    assert_eq!(server.texts().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stays_busy_is_unavailable_after_a_few_retries() {
    let busy = Behaviour::whole(529, &[("retry-after", "0")], "overloaded");
    let server = responding(std::iter::repeat_n(busy, 10));
    let desk = Desk::open(&server).await;
    let reply = desk.run().await;
    assert_eq!(reply.code, Code::ToolUnavailable, "{}", reply.message);
    assert!(reply.message.contains("529") && reply.message.contains("overloaded"), "{}", reply.message);
    assert_eq!(server.texts().len(), 4);
}

/// There is no time for the wait that the server wants.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_beyond_the_budget_is_not_begun() {
    let server = responding([Behaviour::whole(429, &[("retry-after", "3600")], "busy")]);
    let desk = Desk::open(&server).await;
    let reply = desk.run().await;
    assert_eq!(reply.code, Code::ToolUnavailable, "{}", reply.message);
    assert_eq!(server.texts().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_or_floods_ends_the_run() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    for behaviour in [Behaviour::Reset, Behaviour::Say(Vec::new()), Behaviour::flood(head, vec![b' '; 65_536])] {
        let desk = Desk::open(&Server::plain(behaviour)).await;
        let reply = desk.run().await;
        assert!(matches!(reply.code, Code::ToolFailed | Code::ToolUnavailable), "{:?} {}", reply.code, reply.message);
        assert_eq!(desk.host.calls_under_way(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_fails_after_calls_leaves_an_unfinished_result() {
    let call = response(&calls(&[("c", "good__run", json!({}))]));
    let server = responding([call, Behaviour::whole(400, &[], format!("bad request by {KEY}"))]);
    let desk = Desk::open(&server).await;
    let reply = desk.run().await;
    let (end, text) = ended(&reply);
    assert_eq!(end, "broken");
    assert!(text.contains("status 400") && !text.contains(KEY), "{text}");
    assert_eq!(desk.transcript()[2]["results"][0]["tool"], "good.run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_without_a_model_says_which_setting_is_missing() {
    let server = responding([]);
    let desk = Plan::new().settings("turns = \"none\"").open(&server).await;
    let reply = desk.run().await;
    assert_eq!(reply.code, Code::ToolDenied, "{}", reply.message);
    assert!(reply.message.contains("`turns` is not a number from 1 to 500"), "{}", reply.message);
    server.saw_nothing();
}
