//! Answers that cannot be used get a few retries, and then the run ends.

use crate::sub_agent::desk::{Desk, Plan, ended};
use crate::sub_agent::model::{bodies, calls, completion, responding, response, says, scripted};
use portcullis::Code;
use portcullis_tests::net::Behaviour;
use serde_json::json;

/// The answers that a model gives before it gives up: the constant of the plugin.
const MALFORMED_MAX: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_answers_nothing_usable_is_told_why_and_then_given_up() {
    let call = |call| response(&completion("tool_calls", &json!({ "content": null, "tool_calls": [call] })));
    let same = json!({ "id": "a", "function": { "name": "good__run", "arguments": "{}" } });
    let huge = vec![b'x'; 2 << 20];
    for (answer, why) in [
        (Behaviour::whole(200, &[], "<html>"), "it is not JSON"),
        (Behaviour::whole(200, &[], huge), "it is too long"),
        (response(&json!({ "choices": [] })), "it has no choice"),
        (response(&json!({ "choices": [{ "message": "text" }] })), "its choice has no message"),
        (response(&completion("stop", &json!({ "content": 3 }))), "content is not a text"),
        (call(json!({ "function": { "name": "good__run", "arguments": "{}" } })), "the id of a call is missing"),
        (call(json!({ "id": "a", "function": { "arguments": "{}" } })), "the name of a call is missing"),
        (
            response(&completion("tool_calls", &json!({ "content": "", "tool_calls": [same, same] }))),
            "two calls have the same id",
        ),
    ] {
        let server = responding(std::iter::repeat_n(answer, MALFORMED_MAX + 1));
        let desk = Desk::open(&server).await;
        let reply = desk.run().await;
        assert_eq!(reply.code, Code::ToolFailed, "{why}: {}", reply.message);
        assert!(reply.message.contains(why), "{why}: {}", reply.message);
        let asked = bodies(&server);
        assert_eq!(asked.len(), MALFORMED_MAX, "{why}");
        let told =
            json!({ "role": "user", "content": format!("Your last answer could not be used: {why}. Answer again.") });
        assert_eq!(asked[1]["messages"][2], told);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_usable_answer_ends_the_retries() {
    let wrong = json!({ "choices": [] });
    let again = calls(&[("c", "good__run", json!({}))]);
    let server = scripted([wrong.clone(), wrong.clone(), again, wrong.clone(), wrong, says("Done.")]);
    let desk = Desk::open(&server).await;
    assert_eq!(ended(&desk.run().await).0, "finished");
}

/// The effects of calls remain, so the caller learns of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_made_calls_ends_as_unfinished() {
    let wrong = json!({ "choices": [] });
    let call = calls(&[("c", "good__run", json!({}))]);
    let server = scripted([call, wrong.clone(), wrong.clone(), wrong]);
    let desk = Desk::open(&server).await;
    let reply = desk.run().await;
    let (end, text) = ended(&reply);
    assert_eq!(end, "unusable");
    assert!(text.contains("did not finish") && text.contains("it has no choice"), "{text}");
    assert_eq!(reply.metadata.as_ref().unwrap()["calls"], 1);
    assert_eq!(desk.transcript()[2]["results"][0]["tool"], "good.run");
}

/// A call that may lack a part of its arguments is not made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_cut_or_refused_end_the_run_without_their_calls() {
    for (reason, word) in [("length", "cut"), ("content_filter", "refused")] {
        let write = json!({ "path": "open/x.txt", "content": "x" });
        let mut answer = calls(&[("c", "files__write", write)]);
        answer["choices"][0]["finish_reason"] = json!(reason);
        let server = scripted([answer]);
        let desk = Desk::open(&server).await;
        desk.site.directory("work/open");
        let reply = desk.run().await;
        let (end, text) = ended(&reply);
        assert_eq!(end, word);
        assert!(text.contains("[The sub-agent did not finish:"), "{text}");
        assert_eq!(desk.file("open/x.txt"), None);
    }
}

/// The oldest results make room, and the request stays within its maximum.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_conversation_forgets_its_oldest_results() {
    let read = |id| (id, "files__read", json!({ "path": "big.txt" }));
    let six = ["a", "b", "c", "d", "e", "f"].map(read);
    let mut script = vec![calls(&six); 3];
    script.push(says("Done."));
    let server = scripted(script);
    let desk = Plan::new().open(&server).await;
    let line = "0123456789 ".repeat(9);
    std::fs::write(desk.site.path("work/big.txt"), format!("{line}\n").repeat(1000)).unwrap();
    assert_eq!(ended(&desk.run().await).0, "finished");
    let asked = bodies(&server).pop().unwrap()["messages"].as_array().unwrap().clone();
    let results: Vec<&str> = asked
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    let is_gone = |text: &&str| text.starts_with("[This result was removed");
    assert_eq!(results.len(), 18);
    assert!(results.first().is_some_and(is_gone) && !results.last().is_some_and(is_gone), "{results:?}");
    assert!(results.iter().map(|text| text.len()).sum::<usize>() <= 400_000);
}
