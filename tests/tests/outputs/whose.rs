//! Who may read an output, and how the policy decides about reading.

use crate::outputs::desk::{call, files, lines, open, policy, reference, site, text};
use portcullis::hooks::Hooking;
use portcullis::outputs::{OutputError, Reader};
use portcullis::policy::Principal;
use portcullis::{Code, Hook, HookCall, Hooked, Host, Reply, Request};
use serde_json::json;
use std::sync::Arc;

async fn read_as(host: &Host, session: &str, principal: &str, id: &str) -> Reply {
    let principal: Principal = principal.parse().unwrap();
    let arguments = json!({ "reference": id }).to_string();
    host.call(Request::new("output.read", arguments).session(session).principal(principal)).await
}

#[tokio::test]
async fn outputs_of_another_session_or_principal_cannot_be_read() {
    let site = site().await;
    let host = open(&site).await;
    let id = reference(&lines(&host, 100).await);
    assert_eq!(read_as(&host, "default", "local", &id).await.code, Code::Completed);
    for (session, principal) in [("other", "local"), ("default", "alice"), ("default", "local/helper")] {
        let reply = read_as(&host, session, principal, &id).await;
        assert_eq!(reply.code, Code::ToolRejectedArguments, "{session} {principal}: {}", reply.message);
        assert!(reply.message.contains("there is no output"), "{}", reply.message);
        let principal: Principal = principal.parse().unwrap();
        let reader = Reader { session, principal: &principal };
        assert!(matches!(host.outputs().get(reader, &id).await, Err(OutputError::Unknown(_))));
        assert!(matches!(host.outputs().read(reader, &id, 0, 10).await, Err(OutputError::Unknown(_))));
        assert_eq!(host.outputs().list(reader).await.unwrap(), []);
    }
    for id in ["", "../ledger.sqlite", "..", &"0".repeat(32), &id.to_uppercase()] {
        let reply = call(&host, "output.read", json!({ "reference": id })).await;
        assert_eq!(reply.code, Code::ToolRejectedArguments, "{id}: {}", reply.message);
    }
}

#[tokio::test]
async fn the_hosts_own_tools_are_allowed_by_default() {
    let site = site().await;
    let speaks = |decision: &str| format!("[[rule]]\ntool = \"output.read\"\ndecision = \"{decision}\"\n");
    let rows = [
        (String::new(), Code::Completed),
        ("[defaults]\ndecision = \"ask\"\n".to_owned(), Code::Completed),
        (speaks("allow"), Code::Completed),
        (speaks("deny"), Code::PolicyDenied),
        (speaks("ask"), Code::ApprovalPending),
        ("[[rule]]\ntool = \"*.*\"\ndecision = \"deny\"\n".to_owned(), Code::PolicyDenied),
    ];
    let id = reference(&lines(&open(&site).await, 100).await);
    for (policy, code) in rows {
        let host = site.open(&policy).await;
        let reply = call(&host, "output.read", json!({ "reference": id })).await;
        assert_eq!(reply.code, code, "{policy}: {}", reply.message);
        let explained = host.explain(Request::new("output.read", json!({ "reference": id }).to_string())).await;
        let explained = explained.unwrap();
        let decision = explained.explanation.verdict.decision.as_str();
        let expected = match code {
            Code::Completed => "allow",
            Code::PolicyDenied => "deny",
            _ => "ask",
        };
        assert_eq!(decision, expected, "{policy}");
    }
}

#[tokio::test]
async fn done_ends_with_a_marker_for_programs() {
    let site = site().await;
    let host = open(&site).await;
    for name in ["done", "done.done"] {
        let reply = call(&host, name, json!({ "result": "all well" })).await;
        assert_eq!(text(&reply), "all well");
        assert_eq!(reply.metadata, Some(json!({ "done": true })));
        assert_eq!(text(&call(&host, name, json!({})).await), "");
    }
    assert_eq!(call(&host, "output", json!({})).await.code, Code::UnknownTool);
}

#[tokio::test]
async fn no_plugin_can_take_a_name_of_the_host() {
    let site = site().await;
    for name in ["output", "done", "tools"] {
        site.plugin(name, &portcullis_tests::guest("good", &portcullis_tests::Manifest::of(name)));
    }
    let host = open(&site).await;
    for name in ["output", "done", "tools"] {
        let refusal = host.catalog().refusal(name).unwrap().error.to_string();
        assert!(refusal.contains("tools of the host itself"), "{refusal}");
        assert!(host.catalog().plugin(name).unwrap().is_standard());
    }
    assert_eq!(text(&call(&host, "done", json!({ "result": "still here" })).await), "still here");
}

/// A hook that withholds every result.
struct Withholds;

impl Hook for Withholds {
    fn after<'a>(&'a self, _: &'a HookCall<'a>, _: &'a Reply) -> Hooking<'a> {
        Box::pin(async { Hooked::refuse("not for you") })
    }
}

#[tokio::test]
async fn a_withheld_output_is_not_kept_either() {
    let site = site().await;
    let host = site.builder(&policy()).hook(Arc::new(Withholds)).open().await.unwrap();
    let (request, mut heard) =
        Request::new("scribe.lines", json!({ "count": 1000, "bytes": 64 }).to_string()).streamed();
    let reply = host.call(request).await;
    assert_eq!((reply.code, reply.reference.clone()), (Code::HookRefused, None));
    assert_eq!(files(&site), [""; 0]);
    assert_eq!(heard.next().await, None, "text that a hook may withhold must not be passed on");
}

#[tokio::test]
async fn the_text_is_passed_on_as_it_is_written_and_equals_the_output() {
    let site = site().await;
    let host = open(&site).await;
    for count in [10, 1000] {
        let arguments = json!({ "count": count, "bytes": 64 }).to_string();
        let (request, mut heard) = Request::new("scribe.lines", arguments).streamed();
        let reply = host.call(request).await;
        let mut text = String::new();
        while let Some(piece) = heard.next().await {
            text.push_str(&piece);
        }
        assert!(!text.is_empty());
        assert!(crate::outputs::desk::all_lines(count).starts_with(&text));
        assert!(count > 10 || text == reply.message);
    }
}
