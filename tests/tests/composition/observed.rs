//! What an observer of calls learns about the calls that tools make, and how they are counted.

use crate::composition::desk::{ALLOW, Desk, EVERY_TOOL, relays, wanted};
use portcullis::Code;
use portcullis::metrics::{CallObserver, CallStep, CountedTool, FinishedCall};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// One call, as the observer saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SeenCall {
    id: String,
    parent: Option<String>,
    first: String,
    steps: Vec<CallStep>,
}

/// Keeps the calls by their tools.
#[derive(Default)]
struct Seen(Mutex<BTreeMap<String, Vec<SeenCall>>>);

impl CallObserver for Seen {
    fn ended(&self, call: &FinishedCall<'_>) {
        let tool = call.tool.map(ToString::to_string).unwrap_or_default();
        let whole = call.took;
        let steps = call.steps().map(|(step, after, took)| {
            assert!(after + took <= whole, "{step:?} of {tool} ends after its call");
            step
        });
        let (id, parent) = (call.id.to_owned(), call.parent.map(str::to_owned));
        let seen = SeenCall { id, parent, first: call.first.to_owned(), steps: steps.collect() };
        self.0.lock().unwrap().entry(tool).or_default().push(seen);
    }
}

#[tokio::test]
async fn the_observer_learns_which_call_led_to_each_call_of_a_tool() {
    let desk = Desk::new().with("good");
    let seen = Arc::new(Seen::default());
    let host = desk.builder(ALLOW, EVERY_TOOL).call_observer(Arc::clone(&seen) as _).open().await.unwrap();
    let inner = json!({ "calls": [wanted("good.run", &json!({}))] });
    let reply = host.call(relays(&[wanted("relay.run", &inner)])).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let seen = seen.0.lock().unwrap().clone();
    let (good, relay) = (&seen["good.run"][0], &seen["relay.run"]);
    // A call ends before the call that makes it.
    let [second, outermost] = relay.as_slice() else { panic!("{seen:?}") };
    assert_eq!((&outermost.id, &outermost.parent), (&reply.id, &None));
    assert_eq!((&second.parent, &good.parent), (&Some(outermost.id.clone()), &Some(second.id.clone())));
    for call in [good, second, outermost] {
        assert_eq!(call.first, reply.id, "{seen:?}");
        for step in [CallStep::Decide, CallStep::Instantiate, CallStep::Execute] {
            assert!(call.steps.contains(&step), "{step:?} is missing: {call:?}");
        }
    }
    let metrics = host.metrics().await;
    let of = |name: &str| {
        let is_one = |tool: &CountedTool| matches!(tool, CountedTool::Known(known) if known.to_string() == name);
        metrics.calls.iter().filter(|row| is_one(&row.tool)).map(|row| row.calls).sum::<u64>()
    };
    assert_eq!((of("relay.run"), of("good.run"), metrics.durations.count()), (2, 1, 3), "{metrics:?}");
    assert_eq!((metrics.calls_under_way, metrics.run_slots_used, metrics.instances_used), (0, 0, 0));
}

#[tokio::test]
async fn a_call_that_is_refused_counts_by_its_code_and_without_the_name_that_a_caller_made_up() {
    let desk = Desk::new().with("good");
    let rules = "[[rule]]\ntool = \"good.*\"\ndecision = \"deny\"\n";
    let host = desk.open(rules, EVERY_TOOL).await;
    for tool in ["good.run", "good.made-up", "nowhere.run"] {
        let _ = host.call(portcullis::Request::new(tool, "{}")).await;
    }
    let _ = host.call(portcullis::Request::new("good.run", "{")).await;
    let metrics = host.metrics().await;
    let rows = metrics.calls.iter().map(|row| {
        let tool = if let CountedTool::Known(name) = &row.tool { name.to_string() } else { format!("{:?}", row.tool) };
        ((tool, row.answer.as_str(), row.code.as_str()), row.calls)
    });
    let expected = [
        (("Unknown".to_owned(), "none", "malformed-arguments"), 1),
        (("Unknown".to_owned(), "none", "unknown-tool"), 2),
        (("good.run".to_owned(), "deny", "policy-denied"), 1),
    ];
    assert_eq!(rows.collect::<BTreeMap<_, _>>(), BTreeMap::from(expected));
}
