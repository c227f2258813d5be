//! `tools.batch` makes several calls. Each is decided, limited and recorded as if its caller had made it alone, and the
//! batch gives no right.

use crate::calls::desk::{Desk as Naps, until, word};
use crate::composition::desk::{ALLOW, ASK_MARKS, Desk, EVERY_TOOL, inner_outcomes, nested, policy, relayed, wanted};
use portcullis::approvals::Scripted;
use portcullis::policy::Unattended;
use portcullis::{Answer, BatchedCall, Code, Covers, Host, Outcome, Output, Part, Reply, Request, approver_fn};
use portcullis_tests::{Manifest, assert_verifies, guest};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The beginning of the line above a result.
const RESULT: &str = "[Portcullis: result ";

/// Builds a batch of these calls.
pub(crate) fn batch(calls: &[Value]) -> Request {
    Request::new("tools.batch", json!({ "calls": calls }).to_string())
}

/// Returns the results of a batch: the line above each, and its text.
pub(crate) fn results(reply: &Reply) -> Vec<(String, String)> {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Parts(parts)) = &reply.output else { panic!("no parts: {:?}", reply.output) };
    let mut results: Vec<(String, String)> = Vec::new();
    for part in parts {
        let Part::Text(text) = part else { continue };
        match text.split_once('\n').unwrap_or((text, "")) {
            (line, text) if line.starts_with(RESULT) => results.push((line.to_owned(), text.to_owned())),
            _ => results.last_mut().unwrap().1.push_str(text),
        }
    }
    results
}

/// Returns what a batch says to programs about each of its calls.
pub(crate) fn facts(reply: &Reply) -> Vec<Value> {
    reply.metadata.as_ref().unwrap_or_else(|| panic!("{}", reply.message))["results"].as_array().unwrap().clone()
}

/// Returns the code of each call of a batch.
pub(crate) fn codes(reply: &Reply) -> Vec<String> {
    facts(reply).iter().map(|facts| facts["code"].as_str().unwrap().to_owned()).collect()
}

fn mark(number: usize) -> Value {
    wanted("marks.run", &json!({ "n": number }))
}

fn good(number: usize) -> Value {
    wanted("good.run", &json!({ "n": number }))
}

/// Returns the reply to a call of the same caller that no batch makes.
async fn alone(host: &Host, call: &Value) -> Reply {
    host.call(Request::new(call["tool"].as_str().unwrap(), call["arguments"].to_string())).await
}

#[tokio::test]
async fn results_have_the_order_of_the_calls_and_name_the_tools_as_the_caller_does() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let calls = [mark(1), good(2), wanted("good__run", &json!({})), json!({ "tool": "good.run" }), good(5)];
    let reply = host.call(batch(&calls)).await;
    let expected = [
        ("1 of 5, marks.run: completed.]", "{\"n\":1}"),
        ("2 of 5, good.run: completed.]", "{\"n\":2}"),
        ("3 of 5, good__run: completed.]", "{}"),
        ("4 of 5, good.run: completed.]", "{}"),
        ("5 of 5, good.run: completed.]", "{\"n\":5}"),
    ];
    let expected: Vec<_> = expected.map(|(line, text)| (format!("{RESULT}{line}"), text.to_owned())).into();
    assert_eq!(results(&reply), expected);
    let named: Vec<Value> = facts(&reply).iter().map(|facts| facts["tool"].clone()).collect();
    assert_eq!(named, ["marks.run", "good.run", "good__run", "good.run", "good.run"]);
    assert_verifies(&host);
}

/// Each call has an entry of its own, by the same principal, with the batch as its parent.
#[tokio::test]
async fn each_call_is_recorded_as_one_of_the_caller() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let mut events = host.events();
    let reply = host.call(batch(&[good(1), mark(2)]).session("s").agent("robot")).await;
    let outcomes = inner_outcomes(&host);
    assert_eq!(outcomes.len(), 2, "{outcomes:?}");
    for outcome in &outcomes {
        for (field, value) in
            [("parent", reply.id.as_str()), ("principal", "local"), ("session", "s"), ("agent", "robot")]
        {
            assert_eq!(outcome[field], value, "{field}");
        }
        let call = outcome["call"].as_str().unwrap();
        assert!(facts(&reply).iter().any(|facts| facts["call"] == call), "{outcome}");
    }
    let (mut parents, mut titles) = (Vec::new(), Vec::new());
    while let Some(event) = events.try_next() {
        match &event.kind {
            portcullis::events::EventKind::Progress(progress) => titles.push(progress.title.clone().unwrap()),
            _ if &*event.tool != "tools.batch" => parents.push(event.parent.as_deref() == Some(reply.id.as_str())),
            _ => {}
        }
    }
    assert!(!parents.is_empty() && parents.iter().all(|is_batch| *is_batch), "{parents:?}");
    assert_eq!(titles, ["1 of 2 calls have ended", "2 of 2 calls have ended"]);
    assert_verifies(&host);
}

/// One wrong call fails with the message that it has alone, and the others run.
#[tokio::test]
async fn a_call_that_cannot_run_fails_as_it_does_alone_and_the_others_run() {
    let desk = Desk::new().with("trap-on-demand");
    let schema = r#"{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}"#;
    desk.site.plugin("picky", &guest("good", &Manifest::of("picky").tool(|tool| tool.schema = schema.to_owned())));
    desk.site.plugin("never", &guest("good", &Manifest::of("never")));
    let deny = "[[rule]]\ntool = \"never.*\"\ndecision = \"deny\"\nreason = \"it is closed\"\n";
    let host = desk.open(&format!("{ALLOW}{deny}"), EVERY_TOOL).await;
    let calls = [
        (good(0), "completed"),
        (wanted("picky.run", &json!({ "count": "two" })), "invalid-arguments"),
        (wanted("good.nothing", &json!({})), "unknown-tool"),
        (wanted("nothing", &json!({})), "unknown-tool"),
        (wanted("\u{1b}[2J\n", &json!({})), "unknown-tool"),
        (wanted("never.run", &json!({})), "policy-denied"),
        (wanted("trap-on-demand.run", &json!({ "a": 1 })), "trapped"),
        (mark(7), "completed"),
    ];
    let (calls, expected): (Vec<Value>, Vec<&str>) = calls.into_iter().unzip();
    let reply = host.call(batch(&calls)).await;
    assert_eq!(codes(&reply), expected);
    for (call, (line, text)) in calls.iter().zip(results(&reply)) {
        assert_eq!(text, alone(&host, call).await.message, "{call}");
        assert!(!line.contains('\u{1b}') && !line.contains('\n'), "{line:?}");
    }
    assert!(results(&reply)[1].0.ends_with("picky.run: invalid (invalid-arguments).]"), "{:?}", results(&reply)[1]);
    assert_eq!(desk.marks()["{\"n\":7}"], 2);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_batch_gives_no_right() {
    // Whatever allows the batch itself, each call needs its own right.
    let batch_only = "[[rule]]\ntool = \"tools.*\"\ndecision = \"allow\"\n";
    for rules in ["", batch_only] {
        let desk = Desk::new();
        let host = desk.open(rules, EVERY_TOOL).await;
        let reply = host.call(batch(&[mark(1), good(2)])).await;
        assert_eq!(codes(&reply), ["policy-denied", "policy-denied"], "{rules}");
        assert!(desk.marks().is_empty());
    }
    // A deny of the batch stops it, and the calls are not made.
    let desk = Desk::new();
    let deny = "[[rule]]\ntool = \"tools.batch\"\ndecision = \"deny\"\n";
    let host = desk.open(&format!("{ALLOW}{deny}"), EVERY_TOOL).await;
    assert_eq!(host.call(batch(&[mark(1)])).await.code, Code::PolicyDenied);
    assert!(desk.marks().is_empty() && inner_outcomes(&host).is_empty());
}

/// To its caller, a tool outside of the toolset does not exist, also in a batch.
#[tokio::test]
async fn a_batch_reaches_no_tool_that_its_caller_is_not_offered() {
    let desk = Desk::new();
    let toolset = "[toolset.some]\ntools = [\"good.*\"]\n[[offer]]\nclient = \"robot\"\ntoolset = \"some\"\n";
    let host = desk.open(&format!("{ALLOW}{toolset}"), EVERY_TOOL).await;
    let calls = [mark(1), good(2), wanted("marks__run", &json!({}))];
    for request in [batch(&calls).toolset("some"), batch(&calls).agent("robot")] {
        let reply = host.call(request).await;
        assert_eq!(codes(&reply), ["unknown-tool", "completed", "unknown-tool"]);
        let texts = results(&reply);
        assert!(!texts[0].1.contains("include: marks") && !texts[0].1.contains(", marks"), "{texts:?}");
    }
    let gone = host.call(batch(&calls).toolset("gone")).await;
    assert_eq!(codes(&gone), ["unknown-tool"; 3]);
    assert!(desk.marks().is_empty(), "a call ran outside of the toolset");
}

#[tokio::test]
async fn a_batch_contains_no_batch() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let inner = json!({ "calls": [mark(1)] });
    let calls = [wanted("tools.batch", &inner), wanted("tools__batch", &inner), good(3)];
    let reply = host.call(batch(&calls)).await;
    assert_eq!(codes(&reply), ["caller-refused", "caller-refused", "completed"]);
    assert!(results(&reply)[0].1.contains("cannot contain another batch"), "{:?}", results(&reply));
    assert!(desk.marks().is_empty());
    // An explanation in a batch is not a call, so it says what a call would return.
    let explains = wanted("tools.explain", &json!({ "tool": "tools.batch", "arguments": inner }));
    let reply = host.call(batch(&[explains])).await;
    assert!(results(&reply)[0].1.contains("would run"), "{:?}", results(&reply));
}

/// The calls of a tool count for the tool, so it must not make them through a batch.
#[tokio::test]
async fn a_tool_cannot_call_a_batch() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, r#"{ tools = ["tools.*", "good.*"], calls = 3 }"#).await;
    let calls = json!({ "calls": [mark(1), good(2)] });
    let made = relayed(&host, &[wanted("tools.batch", &calls)]).await;
    assert!(made[0]["invalid"].as_str().unwrap().contains("a tool cannot call this tool"), "{made:?}");
    assert!(desk.marks().is_empty());
    assert_eq!(inner_outcomes(&host).len(), 1);
    let listed = host.call(Request::new("relay.list", "{}")).await.message;
    assert!(listed.contains("tools.explain") && !listed.contains("tools.batch"), "{listed}");
    let defined = host.call(Request::new("relay.define", r#"{"tool":"tools.batch"}"#)).await.message;
    assert_eq!(defined, "null");
    // A tool in a batch still calls other tools, and not a batch.
    let reply = host.call(batch(&[wanted("relay.run", &json!({ "calls": [good(1)] }))])).await;
    assert!(results(&reply)[0].1.contains(r#"{\"n\":1}"#), "{:?}", results(&reply));
    let inner = wanted("relay.run", &json!({ "calls": [wanted("tools.batch", &calls)] }));
    let reply = host.call(batch(&[inner])).await;
    assert!(results(&reply)[0].1.contains("a tool cannot call this tool"), "{:?}", results(&reply));
}

#[tokio::test]
async fn a_malformed_batch_makes_no_call() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let many: Vec<Value> = (0..26).map(mark).collect();
    let cases = [
        (json!({}), "calls"),
        (json!({ "calls": [] }), "/calls"),
        (json!({ "calls": many }), "/calls"),
        (json!({ "calls": mark(1) }), "/calls"),
        (json!({ "calls": "[]" }), "/calls"),
        (json!({ "calls": [mark(1), "marks.run"] }), "/calls/1"),
        (json!({ "calls": [mark(1), {}] }), "/calls/1"),
        (json!({ "calls": [mark(1), { "tool": "" }] }), "/calls/1/tool"),
        (json!({ "calls": [mark(1), { "tool": "marks.run", "arguments": [] }] }), "/calls/1/arguments"),
        (json!({ "calls": [mark(1), { "tool": "marks.run", "input": {} }] }), "input"),
        (json!({ "calls": [mark(1)], "order": "any" }), "order"),
    ];
    for (arguments, says) in cases {
        let reply = host.call(Request::new("tools.batch", arguments.to_string())).await;
        assert_eq!(reply.code, Code::InvalidArguments, "{arguments}");
        assert!(reply.message.contains(says), "{arguments}: {}", reply.message);
    }
    assert!(desk.marks().is_empty() && inner_outcomes(&host).is_empty());
    let most: Vec<Value> = (0..25).map(mark).collect();
    assert_eq!(codes(&host.call(batch(&most)).await), ["completed"; 25]);
    assert_eq!(desk.marks().len(), 25);
}

/// With one run slot, the batch gives it to its calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_run_with_one_run_slot() {
    let desk = Desk::new();
    let host = desk.builder(ALLOW, EVERY_TOOL).calls(1).open().await.unwrap();
    let calls = [good(1), mark(2), wanted("relay.run", &json!({ "calls": [good(3)] })), mark(4)];
    let reply = tokio::time::timeout(Duration::from_secs(20), host.call(batch(&calls))).await;
    assert_eq!(codes(&reply.expect("the batch waits for its own calls")), ["completed"; 4]);
    // The deepest chain of calls fits, too.
    let deepest = nested(4, good(1));
    let reply = host.call(batch(&[deepest])).await;
    assert!(results(&reply)[0].1.contains(r#"{\"n\":1}"#), "{:?}", results(&reply));
    let batches = (0..8).map(|number| {
        let (host, calls) = (host.clone(), [mark(number), good(number)]);
        tokio::spawn(async move { host.call(batch(&calls)).await })
    });
    for batch in batches.collect::<Vec<_>>() {
        let reply = tokio::time::timeout(Duration::from_secs(20), batch).await.expect("batches wait for one another");
        let reply = reply.unwrap();
        // A batch beyond those that can wait at once gets the answer to try again.
        assert!(matches!(reply.code, Code::Completed | Code::Busy), "{}", reply.message);
    }
    assert_eq!(codes(&host.call(batch(&[mark(9)])).await), ["completed"]);
}

/// The order of the session decides, as for calls that are made at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_may_write_runs_alone_in_a_batch() {
    let desk = Naps::new().with_naps();
    let host = desk.open().await;
    let mut events = host.events();
    let tools = ["reader", "writer", "sequential", "reader", "reader", "writer", "reader"];
    let calls = |number: usize| -> Vec<Value> {
        let call = |(at, tool): (usize, &str)| wanted(&format!("{tool}.run"), &json!({ "batch": number, "at": at }));
        tools.into_iter().enumerate().map(call).collect()
    };
    let batches: Vec<_> = (0..3)
        .map(|number| {
            let (host, calls) = (host.clone(), calls(number));
            tokio::spawn(async move { host.call(batch(&calls)).await })
        })
        .collect();
    let (mut running, mut most_readers) = (std::collections::BTreeMap::new(), 0);
    let mut ended = 0;
    while ended < batches.len() * tools.len() {
        until(&mut events, |event| {
            if &*event.tool != "tools.batch" {
                match word(event) {
                    "running" => drop(running.insert(event.call.to_string(), event.tool.to_string())),
                    "completed" => {
                        running.remove(&*event.call);
                        ended += 1;
                    }
                    _ => {}
                }
            }
            true
        })
        .await;
        if running.values().any(|tool| tool != "reader.run") {
            assert_eq!(running.len(), 1, "{running:?}");
        }
        most_readers = most_readers.max(running.len());
    }
    assert!(most_readers > 1, "readers must run concurrently");
    for batch in batches {
        assert_eq!(codes(&batch.await.unwrap()), ["completed"; 7]);
    }
}

#[tokio::test]
async fn a_denied_approval_in_the_middle_fails_only_its_call() {
    let desk = Desk::new();
    let person = approver_fn(async |question| match question.arguments.as_str() {
        "{\"n\":2}" => Answer::No { note: Some("not this one".to_owned()) },
        _ => Answer::Yes,
    });
    let host = desk.builder(ASK_MARKS, EVERY_TOOL).approver(person).open().await.unwrap();
    let reply = host.call(batch(&[mark(1), mark(2), mark(3), good(4)])).await;
    assert_eq!(codes(&reply), ["completed", "approval-denied", "completed", "completed"]);
    assert!(results(&reply)[1].1.contains("not this one"), "{:?}", results(&reply));
    assert_eq!(desk.marks().into_keys().collect::<Vec<_>>(), ["{\"n\":1}", "{\"n\":3}"]);
    assert_verifies(&host);
}

/// An approver sees each call as the caller's own, and a remembered approval covers it in a batch and alone.
#[tokio::test]
async fn approvals_of_calls_in_a_batch_are_those_of_the_caller() {
    let desk = Desk::new();
    let person = Arc::new(Scripted::new([Answer::Always(Covers::Exact)]));
    let host = desk.builder(ASK_MARKS, EVERY_TOOL).approver(Arc::clone(&person) as _).open().await.unwrap();
    for _ in 0..2 {
        assert_eq!(codes(&host.call(batch(&[mark(1), good(2)])).await), ["completed", "completed"]);
    }
    assert_eq!(alone(&host, &mark(1)).await.code, Code::Completed);
    let asked = person.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].principal.as_str(), asked[0].tool.to_string()), ("local", "marks.run".to_owned()));
    assert!(asked[0].called_by.is_empty(), "{:?}", asked[0].called_by);
}

/// What an approver says about the batch is not said about its calls.
#[tokio::test]
async fn an_approved_batch_still_asks_about_each_call() {
    let desk = Desk::new();
    let ask = "[[rule]]\ntool = \"tools.batch\"\ndecision = \"ask\"\n";
    let person = Arc::new(Scripted::new([Answer::Yes, Answer::Yes, Answer::No { note: None }]));
    let builder = desk.builder(&format!("{ASK_MARKS}{ask}"), EVERY_TOOL);
    let host = builder.approver(Arc::clone(&person) as _).open().await.unwrap();
    let reply = host.call(batch(&[mark(1), mark(2), good(3)])).await;
    let asked: Vec<String> = person.asked().iter().map(|question| question.tool.to_string()).collect();
    assert_eq!(asked, ["tools.batch", "marks.run", "marks.run"]);
    let mut codes = codes(&reply);
    codes.sort();
    assert_eq!(codes, ["approval-denied", "completed", "completed"]);
    assert_eq!(desk.marks().len(), 1);
}

/// The batch and its calls have one second each, and the approver takes three.
#[tokio::test]
async fn a_batch_spends_no_time_while_an_approver_thinks() {
    let desk = Desk::new();
    let slow = approver_fn(async |_| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Answer::Yes
    });
    let policy = policy(ASK_MARKS, EVERY_TOOL).replace("time = \"20 s\"", "time = \"1 s\"");
    let host = desk.site.builder(&policy).approver(slow).open().await.unwrap();
    let reply = host.call(batch(&[mark(1), good(2)])).await;
    assert_eq!(codes(&reply), ["completed", "completed"]);
    assert!(reply.usage.run.wall < Duration::from_secs(1), "{:?}", reply.usage.run.wall);
}

/// A call that waits for an approver leaves its request open, and runs when it is approved.
#[tokio::test]
async fn a_call_whose_approval_is_pending_can_be_approved_later() {
    let desk = Desk::new();
    let host = desk.builder(ASK_MARKS, EVERY_TOOL).open().await.unwrap();
    let reply = host.call(batch(&[good(1), mark(2)]).unattended(Unattended::Pending)).await;
    assert_eq!(codes(&reply), ["completed", "approval-pending"]);
    let request = facts(&reply)[1]["approval_request"].as_str().unwrap().to_owned();
    assert!(results(&reply)[1].1.contains(&request), "{:?}", results(&reply));
    assert!(desk.marks().is_empty());
    host.approvals().answer(&request, &Answer::Yes).await.unwrap();
    let resumed = host.resume(&request).await.unwrap();
    assert_eq!(resumed.outcome(), Outcome::Completed, "{}", resumed.message);
    assert_eq!(desk.marks().len(), 1);
}

/// A model in a loop cannot hide it in batches: the calls in them count, and the batches between them do not.
#[tokio::test]
async fn repeated_calls_are_counted_across_batches() {
    let desk = Desk::new();
    let policy = policy(ALLOW, EVERY_TOOL).replace("repeats = 1000000", "repeats = 3");
    let person = Arc::new(Scripted::new([Answer::No { note: None }]));
    let host = desk.site.builder(&policy).approver(Arc::clone(&person) as _).open().await.unwrap();
    assert_eq!(codes(&host.call(batch(&[good(1)])).await), ["completed"]);
    assert_eq!(alone(&host, &good(1)).await.code, Code::Completed);
    assert_eq!(codes(&host.call(batch(&[good(1)])).await), ["approval-denied"]);
    assert_eq!(person.asked().len(), 1);
    assert_eq!(person.asked()[0].tool.to_string(), "good.run");
}

/// An embedder can give a model other names, and only some of the tools.
#[tokio::test]
async fn an_embedder_says_what_its_caller_knows_of_the_calls() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let known = [
        BatchedCall::new("my-good"),
        BatchedCall::new("my-marks").refused(Code::UnknownTool, "There is no my-marks."),
        BatchedCall::new("old-good").of_definition([0; 32]),
    ];
    let reply = host.call(batch(&[good(1), mark(2), good(3), mark(4)]).batched(known)).await;
    assert_eq!(codes(&reply), ["completed", "unknown-tool", "definition-changed", "unknown-tool"]);
    let results = results(&reply);
    assert_eq!(results[0].0, format!("{RESULT}1 of 4, my-good: completed.]"));
    assert_eq!(results[1].1, "There is no my-marks.");
    assert!(desk.marks().is_empty(), "a call ran that the embedder does not know of");
}

#[tokio::test]
async fn the_calls_of_a_batch_have_their_own_quotas() {
    let desk = Desk::new();
    let limits = "[plugin.marks.limits]\ncreated-entries = 1\n";
    let host = desk.open(&format!("{limits}{ALLOW}"), EVERY_TOOL).await;
    assert_eq!(codes(&host.call(batch(&[mark(1), mark(2), mark(3)])).await), ["completed"; 3]);
    assert_eq!(desk.marks().len(), 3);
    // And a tool in a batch has its own for its calls.
    let reply = host.call(batch(&[wanted("relay.run", &json!({ "calls": [mark(4), mark(5)] }))])).await;
    assert_eq!(codes(&reply), ["completed"]);
    assert_eq!(desk.marks().len(), 5);
    assert_verifies(&host);
}
