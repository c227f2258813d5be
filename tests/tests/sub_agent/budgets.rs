//! Each budget ends a run that would go on, and the answer says which one.

use crate::sub_agent::desk::{Desk, Plan, ended};
use crate::sub_agent::model::{bodies, calls, repeating, scripted};
use portcullis::{Code, Reply};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

/// A server whose model calls a tool in every answer.
fn endless() -> Server {
    repeating(&calls(&[("c", "good__run", json!({ "a": 1 }))]))
}

#[track_caller]
fn assert_ended_by(reply: &Reply, budget: &str) {
    let (end, text) = ended(reply);
    assert_eq!(end, budget);
    assert!(text.contains(&format!("[The sub-agent did not finish: its budget of {budget} is used up.]")), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_loop_ends_at_the_turns() {
    for (settings, budget, turns) in [
        ("turns = \"4\"", json!({}), 4),
        ("turns = \"4\"", json!({ "turns": 2 }), 2),
        ("turns = \"4\"", json!({ "turns": 99 }), 4),
    ] {
        let server = endless();
        let desk = Plan::new().settings(settings).open(&server).await;
        let reply = desk.run_with(&json!({ "budget": budget })).await;
        assert_ended_by(&reply, "turns");
        assert_eq!(bodies(&server).len(), turns);
        assert_eq!(desk.transcript().as_array().unwrap().len(), 1 + 2 * turns);
    }
}

/// Each answer counts 120 tokens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_end_a_run_and_bound_the_last_answer() {
    for (settings, budget) in [("tokens = \"300\"", json!({})), ("tokens = \"9000\"", json!({ "tokens": 300 }))] {
        let server = endless();
        let desk = Plan::new().settings(settings).open(&server).await;
        assert_ended_by(&desk.run_with(&json!({ "budget": budget })).await, "tokens");
        let maxima: Vec<Value> = bodies(&server).iter().map(|body| body["max_completion_tokens"].clone()).collect();
        assert_eq!(maxima, [300, 180, 60]);
    }
}

/// An answer costs 100 × 3 and 20 × 10 millionths.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_ends_a_run() {
    let prices = "price-input = \"3\", price-output = \"10\"";
    for (settings, budget) in [
        (format!("{prices}, money = \"0.001001\""), json!({})),
        (format!("{prices}, money = \"5\""), json!({ "money": "0.001001" })),
        (prices.to_owned(), json!({ "money": "0.001001" })),
    ] {
        let server = endless();
        let desk = Plan::new().settings(&settings).open(&server).await;
        let reply = desk.run_with(&json!({ "budget": budget })).await;
        assert_ended_by(&reply, "money");
        assert_eq!(bodies(&server).len(), 3);
        assert_eq!(reply.metadata.unwrap()["cost"], "0.0015");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_without_prices_is_refused() {
    let server = scripted([]);
    let desk = Desk::open(&server).await;
    for money in ["1", "much"] {
        let reply = desk.run_with(&json!({ "budget": { "money": money } })).await;
        assert_eq!(reply.code, Code::ToolRejectedArguments, "{}", reply.message);
    }
    server.saw_nothing();
}

/// The server never answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_ends_a_run_that_waits_for_its_model() {
    let server = Server::plain(Behaviour::Silent);
    let desk = Plan::new().settings("seconds = \"100\"").open(&server).await;
    assert_ended_by(&desk.run_with(&json!({ "budget": { "seconds": 1 } })).await, "time");
    server.is_left().await;
}
