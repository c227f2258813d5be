//! A hidden tool does not exist for its caller, and exists for others.

use crate::prepared::desk::{Desk, erase, names, offered, policy, reason};
use crate::reload;
use portcullis::policy::{Audience, Principal};
use portcullis::{Code, Request};

#[tokio::test]
async fn a_tool_is_hidden_by_what_the_plugin_learns_of_the_caller() {
    let (owner, sub_agent) = (Principal::default(), Principal::default().attenuated("helper").unwrap());
    let whole = Audience::new(&owner, "open");
    type Change = fn(Request) -> Request;
    let cases: [(&str, Audience<'_>, Change); 5] = [
        ("automated", Audience { automated: true, ..whole }, |request| request.automated()),
        ("client", Audience { client: Some("stranger"), ..whole }, |request| request.agent("stranger")),
        ("model", Audience { model: Some("small"), ..whole }, |request| request.model("small")),
        ("principal", Audience { principal: &sub_agent, ..whole }, |request| {
            request.principal(Principal::default().attenuated("helper").unwrap())
        }),
        ("session", Audience { session: "closed", ..whole }, |request| request.session("closed")),
    ];
    let desk = Desk::new();
    for (mode, reduced, change) in cases {
        let host = desk.open(mode).await;
        let all = host.offered_tools(&whole).await.unwrap();
        assert_eq!(names(&host, &all), ["erase", "note"], "{mode}");
        assert!(all.is_everything());
        let fewer = host.offered_tools(&reduced).await.unwrap();
        assert_eq!(names(&host, &fewer), ["note"], "{mode}");
        assert!(!fewer.is_everything(), "{mode}");
        let reply = host.call(change(erase().session("open"))).await;
        assert_eq!(reply.code, Code::UnknownTool, "{mode}");
        let suggested = reply.message.split_once("include: ").unwrap().1;
        assert!(suggested.contains("prepared.note") && !suggested.contains("prepared.erase"), "{mode}: {suggested}");
        assert_eq!(host.call(erase().session("open")).await.code, Code::Completed, "{mode}");
        let explained = host.explain(change(erase().session("open"))).await.unwrap_err();
        assert_eq!(explained.code, Code::UnknownTool, "{mode}");
    }
}

#[tokio::test]
async fn a_changed_setting_changes_what_is_offered() {
    let desk = Desk::new();
    let host = reload::policy::open(&desk.site, &policy("always")).await;
    assert_eq!(host.call(erase()).await.code, Code::UnknownTool);
    reload::policy::write(&desk.site, &policy("none"));
    host.reload().await.unwrap();
    assert_eq!(host.call(erase()).await.code, Code::Completed);
}

#[tokio::test]
async fn a_preparer_gets_the_settings_but_no_handle() {
    let desk = Desk::new();
    let host = desk.open("handles").await;
    let offered = offered(&host, "s").await;
    assert_eq!(reason(&host, &offered, "erase").as_deref(), Some("opened []"));
}

/// A client chooses its own name, and a plugin its reasons.
#[tokio::test]
async fn long_texts_of_callers_and_of_plugins_are_cut() {
    let (desk, owner, long) = (Desk::new(), Principal::default(), "n".repeat(10_000));
    let host = desk.open("lengths").await;
    let audience = Audience { client: Some(&long), model: Some(&long), ..Audience::new(&owner, &long) };
    let offered_to_long = host.offered_tools(&audience).await.unwrap();
    assert_eq!(reason(&host, &offered_to_long, "erase").as_deref(), Some("[256, 256, 256]"));
    let host = desk.open("long").await;
    let offered = offered(&host, "s").await;
    assert_eq!(reason(&host, &offered, "erase").map(|reason| reason.len()), Some(256));
}

#[tokio::test]
async fn a_batch_calls_no_hidden_tool() {
    let desk = Desk::new();
    let host = desk.open("always").await;
    let calls =
        r#"{"calls":[{"tool":"prepared.erase","arguments":{}},{"tool":"prepared.note","arguments":{"text":"a"}}]}"#;
    let reply = host.call(Request::new("tools.batch", calls)).await;
    assert!(reply.message.contains("There is no tool prepared.erase."), "{}", reply.message);
    assert!(!reply.message.contains("Erased."), "{}", reply.message);
}
