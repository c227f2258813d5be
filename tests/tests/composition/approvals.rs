//! Inner calls that need approval: who is shown, what an approval covers, and what a new policy does meanwhile.

use crate::composition::desk::{
    ALLOW, ASK_MARKS, Desk, EVERY_TOOL, inner_outcomes, nested, policy, relayed, relays, wanted,
};
use portcullis::approvals::Scripted;
use portcullis::{Answer, Code, Compiler, Covers, Host, Request, approver_fn};
use portcullis_tests::{PATIENCE, assert_verifies};
use serde_json::json;
use std::fs;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[tokio::test]
async fn an_approver_sees_the_tool_that_makes_the_call_and_its_exact_arguments() {
    let desk = Desk::new();
    let approver = Arc::new(Scripted::new([Answer::Yes]));
    let host = desk.builder(ASK_MARKS, EVERY_TOOL).approver(Arc::clone(&approver) as _).open().await.unwrap();
    let answers = relayed(&host, &[wanted("marks.run", &json!({ "n": 1 }))]).await;
    assert_eq!(answers, [json!({ "text": "{\"n\":1}" })]);
    let asked = approver.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].principal.as_str(), asked[0].origin.as_str()), ("local/relay", "sub-agent"));
    assert_eq!(asked[0].called_by, ["relay.run"]);
    assert_eq!((asked[0].tool.to_string(), asked[0].arguments.as_str()), ("marks.run".to_owned(), "{\"n\":1}"));
    assert_verifies(&host);
}

#[tokio::test]
async fn a_denied_inner_call_does_not_run_and_the_tool_learns_the_note() {
    let desk = Desk::new();
    let note = Some("not this file".to_owned());
    let approver = Arc::new(Scripted::new([Answer::No { note }]));
    let host = desk.builder(ASK_MARKS, EVERY_TOOL).approver(approver).open().await.unwrap();
    let answers = relayed(&host, &[wanted("marks.run", &json!({ "n": 1 }))]).await;
    let text = answers[0]["denied"].as_str().unwrap();
    assert!(text.contains("not this file"), "{text}");
    assert!(desk.marks().is_empty());
}

/// The call has one second, and the approver takes three.
#[tokio::test]
async fn a_call_spends_no_time_while_an_approver_thinks_about_its_inner_call() {
    let desk = Desk::new();
    let slow = approver_fn(async |_| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Answer::Yes
    });
    let policy = policy(ASK_MARKS, EVERY_TOOL).replace("time = \"20 s\"", "time = \"1 s\"");
    let host = desk.site.builder(&policy).approver(slow).open().await.unwrap();
    let calls = [wanted("marks.run", &json!({ "n": 1 })), wanted("good.run", &json!({}))];
    assert_eq!(relayed(&host, &calls).await, [json!({ "text": "{\"n\":1}" }), json!({ "text": "{}" })]);
}

/// The called tool waits as well, for the call that it makes itself. Neither call spends time meanwhile.
#[tokio::test]
async fn no_call_of_a_chain_spends_time_while_an_approver_thinks() {
    let desk = Desk::new();
    let slow = approver_fn(async |_| {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Answer::Yes
    });
    let policy = policy(ASK_MARKS, EVERY_TOOL).replace("time = \"20 s\"", "time = \"2 s\"");
    let host = desk.site.builder(&policy).approver(slow).open().await.unwrap();
    let calls = [nested(1, wanted("marks.run", &json!({ "n": 1 }))), wanted("good.run", &json!({}))];
    let made = relayed(&host, &calls).await;
    assert_eq!(made[1], json!({ "text": "{}" }), "{made:?}");
    assert_eq!(desk.marks().len(), 1, "{made:?}");
}

/// A remembered approval of the caller's own calls does not cover the calls of a tool, and the reverse.
#[tokio::test]
async fn remembered_approvals_of_outer_and_inner_calls_are_apart() {
    for inner_first in [true, false] {
        let desk = Desk::new();
        let always = || Answer::Always(Covers::Exact);
        let approver = Arc::new(Scripted::new([always(), always()]));
        let host = desk.builder(ASK_MARKS, EVERY_TOOL).approver(Arc::clone(&approver) as _).open().await.unwrap();
        let inner = || relays(&[wanted("marks.run", &json!({ "n": 1 }))]);
        let outer = || Request::new("marks.run", "{\"n\":1}");
        let (first, second): (&dyn Fn() -> Request, &dyn Fn() -> Request) =
            if inner_first { (&inner, &outer) } else { (&outer, &inner) };
        for (request, asked) in [(first, 1), (first, 1), (second, 2), (second, 2)] {
            assert_eq!(host.call(request()).await.code, Code::Completed);
            assert_eq!(approver.asked().len(), asked, "inner first: {inner_first}");
        }
    }
}

/// A host whose policy is a file.
async fn open(desk: &Desk, policy: &str, approver: Arc<dyn portcullis::Approver>) -> Host {
    write(desk, policy);
    let builder = Host::builder(desk.site.plugins(), desk.site.state()).compiler(Compiler::InProcess).calls(4);
    builder.policy_file(desk.site.path("policy.toml")).approver(approver).open().await.unwrap()
}

fn write(desk: &Desk, policy: &str) {
    fs::write(desk.site.path("policy.toml.new"), policy).unwrap();
    fs::rename(desk.site.path("policy.toml.new"), desk.site.path("policy.toml")).unwrap();
}

/// Changes the policy while an approver thinks about the innermost call. The call that waits must end.
async fn refused_while_it_waits(request: Request, inner_calls: usize, change: &str, changed: &str) {
    let desk = Desk::new();
    let never = approver_fn(async |_| std::future::pending().await);
    let host = open(&desk, &policy(ASK_MARKS, EVERY_TOOL), never).await;
    let call = {
        let host = host.clone();
        tokio::spawn(async move { host.call(request).await })
    };
    let approvals = host.approvals().clone();
    let asked = async {
        while approvals.list().await.unwrap().questions.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or_else(|_| panic!("{change}: no request"));
    write(&desk, changed);
    host.reload().await.unwrap();
    let reply = tokio::time::timeout(PATIENCE, call).await.unwrap_or_else(|_| panic!("{change}: it still waits"));
    let reply = reply.unwrap();
    assert!(reply.message.contains("was withdrawn"), "{change}: {}", reply.message);
    assert!(desk.marks().is_empty(), "{change}");
    assert!(host.approvals().list().await.unwrap().questions.is_empty(), "{change}");
    assert_eq!(inner_outcomes(&host).len(), inner_calls, "{change}");
}

fn denying(tool: &str) -> String {
    policy(&format!("{ASK_MARKS}[[rule]]\ntool = \"{tool}\"\ndecision = \"deny\"\n"), EVERY_TOOL)
}

/// The parent's rights are taken away while an approver thinks about its inner call.
#[tokio::test]
async fn an_inner_call_that_waits_is_refused_when_the_policy_takes_its_caller_away() {
    let changes = [
        ("the calling tool is denied", denying("relay.*")),
        ("the binding is gone", policy(ASK_MARKS, EVERY_TOOL).replace("tools.tools", "config.unused = \"\" #")),
        ("the binding covers less", policy(ASK_MARKS, r#"{ tools = ["good.*"] }"#)),
    ];
    for (change, changed) in changes {
        let request = relays(&[wanted("marks.run", &json!({ "n": 1 }))]);
        refused_while_it_waits(request, 1, change, &changed).await;
    }
}

/// The tool that makes the call keeps its rights, and the one above it loses them.
#[tokio::test]
async fn an_inner_call_that_waits_is_refused_when_the_policy_takes_a_higher_caller_away() {
    let changes = [
        ("the outermost tool is denied", denying("relay.pass")),
        ("it may no longer call the next one", policy(ASK_MARKS, r#"{ tools = ["marks.*"] }"#)),
    ];
    for (change, changed) in changes {
        let inner = wanted("relay.run", &json!({ "calls": [wanted("marks.run", &json!({ "n": 1 }))] }));
        let request = Request::new("relay.pass", inner.to_string());
        refused_while_it_waits(request, 2, change, &changed).await;
    }
}

/// The approver's yes and a new policy arrive together. The yes does not count for a chain that is denied now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_inner_call_is_decided_again_for_the_chain_above() {
    let (desk, host) = (Arc::new(Desk::new()), Arc::new(OnceLock::<Host>::new()));
    let approver = {
        let (desk, host) = (Arc::clone(&desk), Arc::clone(&host));
        approver_fn(move |_| {
            let (desk, host) = (Arc::clone(&desk), Arc::clone(&host));
            async move {
                write(&desk, &denying("relay.*"));
                host.get().unwrap().reload().await.unwrap();
                Answer::Yes
            }
        })
    };
    let opened = open(&desk, &policy(ASK_MARKS, EVERY_TOOL), approver).await;
    host.set(opened.clone()).unwrap();
    let reply = opened.call(relays(&[wanted("marks.run", &json!({ "n": 1 }))])).await;
    // The reload withdraws the request, or the yes comes first and is decided again.
    let said = ["the policy now denies relay.run", "request was withdrawn, because the policy was reloaded"];
    assert!(said.iter().any(|said| reply.message.contains(said)), "{}", reply.message);
    assert!(desk.marks().is_empty());
}

/// The policy changes while the tool computes: its next call is decided by the new one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_of_a_tool_that_is_denied_meanwhile_is_refused() {
    let desk = Desk::new();
    let host = open(&desk, &policy(ALLOW, EVERY_TOOL), Arc::new(portcullis::approvals::DenyAll)).await;
    let arguments = json!({ "calls": [wanted("marks.run", &json!({}))], "computes_ms": 3000 });
    let call = {
        let host = host.clone();
        tokio::spawn(async move { host.call(Request::new("relay.run", arguments.to_string())).await })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    write(&desk, &policy(&(ALLOW.to_owned() + "[[rule]]\ntool = \"relay.*\"\ndecision = \"deny\"\n"), EVERY_TOOL));
    host.reload().await.unwrap();
    let reply = call.await.unwrap();
    assert!(reply.message.contains("the policy now denies relay.run"), "{}", reply.message);
    assert!(desk.marks().is_empty());
}
