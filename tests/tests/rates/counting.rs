//! How often calls may begin.

use portcullis::audit::Entry;
use portcullis::policy::Unattended;
use portcullis::{Code, Host, OpenError, Outcome, Outlook, Reply, Request};
use portcullis_tests::{BlockOn, Manifest, Site, assert_verifies, guest};
use serde_json::Value;
use std::time::Duration;

/// Allows every call.
pub(crate) const ALLOW: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// Builds a policy that allows every call, with a rate limit.
pub(crate) fn limited(keys: &str) -> String {
    format!("{ALLOW}[[rate-limit]]\n{keys}\n")
}

/// Makes a call of a tool that answers at once.
pub(crate) async fn call(host: &Host, tool: &str, principal: &str) -> Reply {
    host.call(Request::new(tool, "{}").principal(principal.parse().unwrap())).await
}

/// Returns the codes of this many calls of one principal, one after the other.
async fn codes(host: &Host, tool: &str, principal: &str, count: usize) -> Vec<Code> {
    let mut codes = Vec::new();
    for _ in 0..count {
        codes.push(call(host, tool, principal).await.code);
    }
    codes
}

/// Returns the entries of a kind in the audit log.
fn entries(host: &Host, kind: &str) -> Vec<Value> {
    let mut entries = Vec::new();
    let each = |entry: Entry| {
        if entry.document["kind"] == kind {
            entries.push(entry.document);
        }
        Ok(())
    };
    assert_eq!(host.audit().read(each).block_on().unwrap().fault, None);
    entries
}

fn two_plugins() -> Site {
    let site = Site::new();
    site.plugin("second", &guest("good", &Manifest::of("second")));
    site
}

const COMPLETED: Code = Code::Completed;
const LIMITED: Code = Code::RateLimited;

#[tokio::test]
async fn a_principal_that_makes_too_many_calls_is_refused_and_told_when_to_try_again() {
    let site = two_plugins();
    let host = site.open(&limited("tool = 'good.*'\nper = 'principal'\nrate = '1/h'\nburst = 2")).await;
    assert_eq!(codes(&host, "good.run", "alice", 2).await, [COMPLETED; 2]);
    let refused = call(&host, "good.run", "alice").await;
    assert_eq!((refused.code, refused.outcome(), refused.code.as_str()), (LIMITED, Outcome::Limit, "rate-limited"));
    let wait = refused.retry_after.unwrap();
    assert!(wait > Duration::from_secs(3500) && wait <= Duration::from_secs(3600), "{wait:?}");
    let told = "Not run: too many calls. The policy allows 1 call per hour of good.*. Make the same call again in 3";
    assert!(refused.message.starts_with(told), "{}", refused.message);
    // Other principals and other tools have room.
    assert_eq!(codes(&host, "good.run", "bob", 2).await, [COMPLETED; 2]);
    assert_eq!(codes(&host, "second.run", "alice", 5).await, [COMPLETED; 5]);
    // Without the limit, nothing else refuses.
    let unlimited = site.open(ALLOW).await;
    assert_eq!(codes(&unlimited, "good.run", "alice", 5).await, [COMPLETED; 5]);
}

#[tokio::test]
async fn a_refusal_is_recorded_with_its_limit() {
    let site = Site::new();
    let host = site.open(&limited("rate = '1/h'")).await;
    assert_eq!(codes(&host, "good.run", "alice", 2).await, [COMPLETED, LIMITED]);
    let outcome = entries(&host, "outcome").pop().unwrap();
    assert_eq!((outcome["outcome"].as_str(), outcome["code"].as_str()), (Some("limit"), Some("rate-limited")));
    assert!(outcome["retry_after_s"].as_u64().is_some_and(|wait| wait > 3500), "{outcome}");
    let detail = outcome.to_string();
    assert!(detail.contains("the rate limit on line 6, of the user policy: tool *.*, rate 1/h, burst 1"), "{detail}");
    assert_eq!(entries(&host, "decision").len(), 2);
    assert_verifies(&host);
}

#[tokio::test]
async fn calls_of_sub_agents_count_for_their_root_principal() {
    let site = Site::new();
    let host = site.open(&limited("per = 'principal'\nrate = '1/h'\nburst = 3")).await;
    for agent in ["alice/a", "alice/b/c", "alice"] {
        assert_eq!(call(&host, "good.run", agent).await.code, COMPLETED, "{agent}");
    }
    for agent in ["alice/d", "alice", "alice/a"] {
        assert_eq!(call(&host, "good.run", agent).await.code, LIMITED, "{agent}");
    }
}

#[tokio::test]
async fn without_per_all_callers_and_tools_share_one_count() {
    let site = two_plugins();
    let host = site.open(&limited("rate = '1/h'\nburst = 2")).await;
    assert_eq!(call(&host, "good.run", "alice").await.code, COMPLETED);
    assert_eq!(call(&host, "second.run", "bob").await.code, COMPLETED);
    assert_eq!(call(&host, "good.run", "carol").await.code, LIMITED);
}

#[tokio::test]
async fn each_tool_can_have_a_count_of_its_own() {
    let site = two_plugins();
    let host = site.open(&limited("per = 'tool'\nrate = '1/h'")).await;
    assert_eq!(call(&host, "good.run", "alice").await.code, COMPLETED);
    assert_eq!(call(&host, "second.run", "alice").await.code, COMPLETED);
    assert_eq!(call(&host, "good.run", "bob").await.code, LIMITED);
}

#[tokio::test]
async fn every_limit_that_counts_a_call_applies() {
    let keys = "per = 'principal'\nrate = '1/h'\nburst = 2\n[[rate-limit]]\nrate = '1/h'\nburst = 3";
    let site = Site::new();
    let host = site.open(&limited(keys)).await;
    assert_eq!(codes(&host, "good.run", "alice", 3).await, [COMPLETED, COMPLETED, LIMITED]);
    assert_eq!(codes(&host, "good.run", "bob", 2).await, [COMPLETED, LIMITED]);
}

#[tokio::test]
async fn a_denied_call_spends_nothing() {
    let deny = "rate = '1/h'\n[[rule]]\ntool = \"second.*\"\ndecision = \"deny\"";
    let site = two_plugins();
    let host = site.open(&limited(deny)).await;
    assert_eq!(codes(&host, "second.run", "alice", 3).await, [Code::PolicyDenied; 3]);
    assert_eq!(codes(&host, "good.run", "alice", 2).await, [COMPLETED, LIMITED]);
}

#[tokio::test]
async fn a_refused_call_asks_no_approver() {
    let ask = "[[rule]]\ntool = \"good.*\"\ndecision = \"ask\"\n[[rate-limit]]\nrate = '1/h'\n";
    let site = Site::new();
    let builder = site.builder(ask).unattended(Unattended::Pending);
    let host = builder.open().await.unwrap();
    let first = call(&host, "good.run", "alice").await;
    assert_eq!(first.code, Code::ApprovalPending, "{}", first.message);
    let second = host.call(Request::new("good.run", "{\"other\":1}").principal("alice".parse().unwrap())).await;
    assert_eq!(second.code, LIMITED, "{}", second.message);
    assert_eq!(host.approvals().list().await.unwrap().questions.len(), 1);
}

#[tokio::test]
async fn an_explanation_tells_of_the_limits_and_spends_nothing() {
    let site = Site::new();
    let host = site.open(&limited("tool = 'good.*'\nrate = '1/h'")).await;
    let explain = || host.explain(Request::new("good.run", "{}"));
    for _ in 0..3 {
        let explained = explain().await.unwrap();
        assert!(matches!(explained.outlook, Outlook::Run { .. }), "{:?}", explained.outlook);
        assert_eq!(explained.rate_limits, ["tool good.*, rate 1/h, burst 1"]);
    }
    assert_eq!(call(&host, "good.run", "local").await.code, COMPLETED);
    match explain().await.unwrap().outlook {
        Outlook::Refuse { code: LIMITED, message } => assert!(message.contains("again in 3"), "{message}"),
        outlook => panic!("{outlook:?}"),
    }
    let told = host.call(Request::new("tools.explain", r#"{"tool":"good.run"}"#)).await;
    assert!(told.message.contains("would be refused (rate-limited)"), "{}", told.message);
}

#[tokio::test]
async fn a_limit_for_a_tool_that_does_not_exist_keeps_the_host_from_opening() {
    let error = Site::new().builder(&limited("tool = 'good.runs'\nrate = '1/h'")).open().await.unwrap_err();
    assert!(matches!(error, OpenError::Grants(_)), "{error:?}");
    let text = error.to_string() + &std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(text.contains("the rate limit on line 6 cannot count any call"), "{text}");
}
