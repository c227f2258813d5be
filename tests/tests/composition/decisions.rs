//! Each inner call is decided for the caller and for the tool that makes it, and is recorded.

use crate::composition::desk::{ALLOW, Desk, EVERY_TOOL, inner_outcomes, innermost, nested, relayed, relays, wanted};
use portcullis::Request;
use portcullis_tests::assert_verifies;
use serde_json::json;

#[tokio::test]
async fn an_inner_call_is_recorded_as_a_call_of_a_sub_agent_with_its_parent() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let reply = host.call(relays(&[wanted("good.run", &json!({ "a": 1 }))]).session("s").agent("robot")).await;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&reply.message).unwrap(), json!([{ "text": "{\"a\":1}" }]));
    let outcomes = inner_outcomes(&host);
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    for (field, value) in [
        ("parent", reply.id.as_str()),
        ("principal", "local/relay"),
        ("session", "s"),
        ("agent", "robot"),
        ("tool", "good.run"),
        ("outcome", "completed"),
    ] {
        assert_eq!(outcomes[0][field], value, "{field}");
    }
    assert_verifies(&host);
}

#[tokio::test]
async fn both_functions_of_a_set_of_tools_take_the_same_steps() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let pass = wanted("good.run", &json!({ "a": 1 }));
    let reply = host.call(Request::new("relay.pass", pass.to_string())).await;
    assert_eq!(reply.message, "{\"a\":1}");
    assert_eq!(inner_outcomes(&host).len(), 1);
}

#[tokio::test]
async fn a_tool_that_the_policy_does_not_bind_is_not_called_and_the_refusal_is_recorded() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, r#"{ tools = ["good.*"] }"#).await;
    let answers = relayed(&host, &[wanted("marks.run", &json!({})), wanted("good.run", &json!({}))]).await;
    assert_eq!(answers[0], json!({ "denied": "Not called: the policy does not let relay.run call marks.run." }));
    assert_eq!(answers[1], json!({ "text": "{}" }));
    assert!(desk.marks().is_empty());
    let codes: Vec<_> = inner_outcomes(&host).iter().map(|outcome| outcome["code"].clone()).collect();
    assert_eq!(codes, ["dependency-not-granted", "completed"]);
}

#[tokio::test]
async fn without_a_binding_no_tool_can_be_called() {
    let desk = Desk::new();
    let host = desk.site.open(ALLOW).await;
    let reply = host.call(relays(&[wanted("good.run", &json!({}))])).await;
    assert!(reply.message.contains("the policy grants no set of tools `tools` to this tool"), "{}", reply.message);
}

#[tokio::test]
async fn wrong_names_and_arguments_are_refused_and_the_caller_goes_on() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let calls = [
        wanted("good", &json!({})),
        wanted("good.nothing", &json!({})),
        wanted("no\u{1b}[2J.such", &json!({})),
        wanted("good.run", &json!("text")),
        wanted("good.run", &json!([1])),
        wanted("good.run", &json!({ "a": 1 })),
    ];
    let answers = relayed(&host, &calls).await;
    for answer in &answers[..5] {
        let text = answer["invalid"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    assert_eq!(answers[5], json!({ "text": "{\"a\":1}" }));
}

/// The policy must allow a call for the caller, and for the tool that makes it.
#[tokio::test]
async fn an_inner_call_is_decided_for_the_caller_and_for_the_tool() {
    let allow = |tool: &str, who: &str| format!("[[rule]]\ntool = \"{tool}\"\n{who}decision = \"allow\"\n");
    let deny = |who: &str| format!("[[rule]]\ntool = \"marks.*\"\n{who}decision = \"deny\"\n");
    let (caller, inner) = ("principal = \"local\"\n", "principal = \"local/relay\"\n");
    let cases = [
        (allow("*.*", ""), true),
        // A tool with a wider policy than its caller gets nothing from it.
        (allow("relay.*", "") + &allow("marks.*", inner), false),
        (allow("relay.*", "") + &allow("marks.*", caller), false),
        (allow("relay.*", "") + &allow("marks.*", caller) + &allow("marks.*", inner), true),
        (allow("*.*", "") + &deny(inner), false),
        (allow("*.*", "") + &deny(caller), false),
        (allow("*.*", "") + &deny("origin = \"sub-agent\"\n"), false),
    ];
    for (rules, runs) in cases {
        let desk = Desk::new();
        let host = desk.open(&rules, EVERY_TOOL).await;
        let answers = relayed(&host, &[wanted("marks.run", &json!({ "n": 1 }))]).await;
        assert_eq!(answers[0].get("denied").is_none(), runs, "{answers:?}\n{rules}");
        assert_eq!(desk.marks().len(), usize::from(runs), "{rules}");
    }
}

/// Otherwise a deny for the caller could be walked around by one more level.
#[tokio::test]
async fn a_deny_for_any_caller_of_the_chain_holds_below_it() {
    for denied in ["local", "local/relay", "local/relay/relay"] {
        let desk = Desk::new();
        let deny = format!("[[rule]]\ntool = \"marks.*\"\nprincipal = \"{denied}\"\ndecision = \"deny\"\n");
        let host = desk.open(&(ALLOW.to_owned() + &deny), EVERY_TOOL).await;
        let answers = relayed(&host, &[nested(1, wanted("marks.run", &json!({})))]).await;
        assert!(innermost(&answers[0]).get("denied").is_some(), "{denied}: {answers:?}");
        assert!(desk.marks().is_empty(), "{denied}");
    }
}
