//! A run in each format, from the task to the answer: the exact requests, and what the caller gets.

use crate::composition::desk::inner_outcomes;
use crate::sub_agent::desk::{Desk, KEY, Plan, ended};
use crate::sub_agent::model::{bodies, calls, last_results, says, scripted};
use portcullis_tests::assert_verifies;
use serde_json::{Value, json};

/// The description of the only tool in these requests.
const DESCRIPTION: &str = "Does what its plugin is there for.";

fn only_good() -> Value {
    json!({ "tools": ["good.run"] })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_completions_from_the_task_to_the_answer() {
    let two = [("call_1", "good__run", json!({ "a": 1 })), ("call_2", "good__run", json!({ "b": 2 }))];
    let server = scripted([calls(&two), says("It is done.")]);
    let desk = Desk::open(&server).await;
    let reply = desk.run_with(&only_good()).await;
    let (end, text) = ended(&reply);
    assert_eq!(end, "finished");
    assert!(text.starts_with("It is done."), "{text}");
    let function = json!({ "name": "good__run", "description": DESCRIPTION, "parameters": { "type": "object" } });
    let asked = [json!({ "role": "system", "content": "be brief" }), json!({ "role": "user", "content": "the task" })];
    let body = |messages: &[Value]| {
        let tools = [json!({ "type": "function", "function": function })];
        json!({ "model": "m", "max_completion_tokens": 4096, "messages": messages, "tools": tools })
    };
    let call = |id: &str, arguments: &str| {
        let function = json!({ "name": "good__run", "arguments": arguments });
        json!({ "id": id, "type": "function", "function": function })
    };
    let answered = [
        json!({ "role": "assistant", "content": "",
                "tool_calls": [call("call_1", "{\"a\":1}"), call("call_2", "{\"b\":2}")] }),
        json!({ "role": "tool", "tool_call_id": "call_1", "content": "{\"a\":1}" }),
        json!({ "role": "tool", "tool_call_id": "call_2", "content": "{\"b\":2}" }),
    ];
    assert_eq!(bodies(&server), [body(&asked), body(&[&asked[..], &answered].concat())]);
    let metadata = reply.metadata.unwrap();
    assert_eq!(metadata["tokens"], json!({ "input": 200, "output": 40, "estimated": false }));
    assert_eq!((&metadata["turns"], &metadata["calls"]), (&json!(2), &json!(2)));
    assert_verifies(&desk.host);
}

/// The caller can read the transcript, and the audit log links the inner calls to the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_leaves_its_transcript_and_its_calls_in_the_audit_log() {
    let server = scripted([calls(&[("c", "files__read", json!({ "path": "a.txt" }))]), says("alpha")]);
    let desk = Desk::open(&server).await;
    let reply = desk.run().await;
    assert_eq!(ended(&reply).0, "finished");
    assert!(reply.message.contains("transcript.json") && reply.message.contains("It is kept."), "{}", reply.message);
    let transcript = desk.transcript();
    assert_eq!(transcript[0], json!({ "role": "user", "text": "the task" }));
    assert_eq!(transcript[1]["calls"][0]["tool"], "files.read");
    let result = transcript[2]["results"][0]["text"].as_str().unwrap();
    assert!(result.contains("alpha"), "{result}");
    assert_eq!(transcript[3]["text"], "alpha");
    let outcomes = inner_outcomes(&desk.host);
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    for (field, value) in
        [("parent", reply.id.as_str()), ("principal", "local/agent"), ("tool", "files.read"), ("outcome", "completed")]
    {
        assert_eq!(outcomes[0][field], value, "{field}");
    }
    assert_eq!(last_results(&server)[0].0, "c");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_from_the_task_to_the_answer() {
    let used = json!({
        "content": [
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "id": "t1", "name": "good__run", "input": { "a": 1 } },
            { "type": "tool_use", "id": "t2", "name": "good__run", "input": "no object" },
        ],
        "stop_reason": "tool_use",
        "usage": { "input_tokens": 7, "output_tokens": 3 },
    });
    let last = json!({ "content": [{ "type": "text", "text": "Done." }], "stop_reason": "end_turn",
                       "usage": { "input_tokens": 9, "output_tokens": 1 } });
    let server = scripted([used, last]);
    let desk = Plan::anthropic().open(&server).await;
    let reply = desk.run_with(&only_good()).await;
    assert_eq!(ended(&reply).0, "finished");
    let tools = json!([{ "name": "good__run", "description": DESCRIPTION, "input_schema": { "type": "object" } }]);
    let asked = bodies(&server);
    assert_eq!(
        asked[1],
        json!({
            "model": "m", "max_tokens": 4096, "system": "be brief", "tools": tools,
            "messages": [
                { "role": "user", "content": "the task" },
                { "role": "assistant", "content": [
                    { "type": "text", "text": "I look." },
                    { "type": "tool_use", "id": "t1", "name": "good__run", "input": { "a": 1 } },
                    { "type": "tool_use", "id": "t2", "name": "good__run", "input": {} },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "t1", "content": "{\"a\":1}", "is_error": false },
                    { "type": "tool_result", "tool_use_id": "t2", "is_error": true,
                      "content": "Not called: the arguments are not a JSON object." },
                ] },
            ],
        })
    );
    let head = server.texts()[0].to_lowercase();
    assert!(head.contains("anthropic-version: 2023-06-01"), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}").to_lowercase()), "{head}");
    assert_eq!(reply.metadata.unwrap()["tokens"], json!({ "input": 16, "output": 4, "estimated": false }));
}

/// This server counts no tokens, so they are estimated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ollama_from_the_task_to_the_answer() {
    let call = json!({ "function": { "name": "good__run", "arguments": { "a": 1 } } });
    let server = scripted([
        json!({ "message": { "role": "assistant", "content": "", "tool_calls": [call] }, "done": true }),
        json!({ "message": { "role": "assistant", "content": "Done." }, "done": true, "done_reason": "stop" }),
    ]);
    let desk = Plan::ollama().open(&server).await;
    let reply = desk.run_with(&only_good()).await;
    assert_eq!(ended(&reply).0, "finished");
    let messages = bodies(&server).pop().unwrap()["messages"].take();
    assert_eq!(messages[2]["tool_calls"], json!([call]));
    assert_eq!(messages[3], json!({ "role": "tool", "tool_name": "good__run", "content": "{\"a\":1}" }));
    let tokens = &reply.metadata.unwrap()["tokens"];
    assert_eq!(tokens["estimated"], true);
    assert!(tokens["input"].as_u64().unwrap() > 100, "{tokens}");
}
