//! Native tools: a call of one takes all the steps of a call, whatever its function does.

use crate::embed::native_desk::{Counter, PLUGIN, call, open, plugin, text_schema};
use portcullis::events::{CallState, EventKind, Progress};
use portcullis::native::{NativeAnswer, NativePlugin, NativeTool};
use portcullis::outputs::Reader;
use portcullis::policy::Principal;
use portcullis::{
    Answer, Cancellation, Code, HookCall, Hooked, LimitKind, Outlook, Output, Request, approver_fn, hook_fn,
};
use portcullis_tests::{Site, allow_all, assert_verifies, outcome_of};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ASK: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";

#[tokio::test]
async fn a_native_tool_answers_and_its_call_is_recorded() {
    let site = Site::new();
    let (host, runs, _) = open(&site, &allow_all("")).await;
    let reply = call(&host, "app.echo", json!({ "text": "hello" })).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, "hello"));
    assert_eq!(reply.title.as_deref(), Some("An echo"));
    assert_eq!(reply.metadata, Some(json!({ "echo": true })));
    assert_eq!(runs.get(), 1);
    let outcome = outcome_of(&host, &reply.id);
    assert_eq!((&outcome["outcome"], &outcome["code"]), (&json!("completed"), &json!("completed")));
    let mut kinds = Vec::new();
    host.audit()
        .read(|entry| {
            if entry.document["call"] == reply.id {
                kinds.push(entry.document["kind"].clone());
            }
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(kinds, ["decision", "outcome"]);
    assert_verifies(&host);
}

#[tokio::test]
async fn arguments_are_checked_before_the_function_runs() {
    let site = Site::new();
    let (host, runs, _) = open(&site, &allow_all("")).await;
    for arguments in ["{}", r#"{"text":1}"#, r#"{"text":"a","more":1}"#, r#"{"text":"a","text":"b"}"#, "{"] {
        let reply = host.call(Request::new("app.echo", arguments)).await;
        assert_eq!(reply.code.outcome(), portcullis::Outcome::Invalid, "{arguments}: {}", reply.message);
    }
    assert_eq!(call(&host, "app.nothing", json!({})).await.code, Code::UnknownTool);
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn the_policy_decides_and_denies_by_default() {
    let site = Site::new();
    let arguments = json!({ "text": "a" });
    let rule = |tool: &str, decision: &str| format!("[[rule]]\ntool = \"{tool}\"\ndecision = \"{decision}\"\n");
    let only_short = "[[rule]]\ntool = \"app.echo\"\nwhen = { text = \"a\" }\ndecision = \"allow\"\n".to_owned();
    for (policy, code) in [
        (String::new(), Code::PolicyDenied),
        (rule("app.*", "deny"), Code::PolicyDenied),
        (rule("other.*", "allow") + &rule("app.echo", "deny"), Code::PolicyDenied),
        (rule("app.echo", "allow"), Code::Completed),
        (only_short, Code::Completed),
    ] {
        let host = site.builder(&policy.replace("other.*", "good.*")).open().await.unwrap();
        let runs = Counter::default();
        host.register(plugin(&runs, &Counter::default())).await.unwrap();
        let reply = call(&host, "app.echo", arguments.clone()).await;
        assert_eq!(reply.code, code, "{policy}: {}", reply.message);
        assert_eq!(runs.get(), usize::from(code == Code::Completed), "{policy}");
    }
}

#[tokio::test]
async fn an_approver_sees_that_the_tool_is_native_and_decides() {
    let site = Site::new();
    let shown = Arc::new(Mutex::new(Vec::new()));
    let approver = approver_fn({
        let shown = Arc::clone(&shown);
        move |question| {
            let yes = question.arguments.contains("please");
            shown.lock().unwrap().push(question.handles.join("; "));
            async move { if yes { Answer::Yes } else { Answer::No { note: None } } }
        }
    });
    let host = site.builder(ASK).approver(approver).open().await.unwrap();
    let runs = Counter::default();
    host.register(plugin(&runs, &Counter::default())).await.unwrap();
    let denied = call(&host, "app.echo", json!({ "text": "now" })).await;
    assert_eq!((denied.code, runs.get()), (Code::ApprovalDenied, 0));
    let approved = call(&host, "app.echo", json!({ "text": "please" })).await;
    assert_eq!((approved.code, runs.get()), (Code::Completed, 1), "{}", approved.message);
    let notice = "native tool: runs inside the application, without a sandbox";
    assert_eq!(*shown.lock().unwrap(), [notice, notice]);
}

/// An approval that outlives its caller is bound to the definition and the version.
#[tokio::test]
async fn an_approval_does_not_cover_another_version() {
    let site = Site::new();
    let host = site.open(ASK).await;
    let version = |version: &str| {
        let echo = NativeTool::new("echo", "Returns.", &text_schema(), async |_, _| Ok(NativeAnswer::text("done")));
        NativePlugin::new(PLUGIN, version, "A test.").tool(echo)
    };
    host.register(version("1")).await.unwrap();
    let pending = call(&host, "app.echo", json!({ "text": "a" })).await;
    assert_eq!(pending.code, Code::ApprovalPending, "{}", pending.message);
    let request = pending.approval_request.unwrap();
    host.approvals().answer(&request, &Answer::Yes).await.unwrap();
    host.unregister(PLUGIN).await.unwrap();
    host.register(version("2")).await.unwrap();
    let resumed = host.resume(&request).await;
    assert!(!resumed.is_ok_and(|reply| reply.code == Code::Completed), "the approval is of another version");
    // The version that was approved still runs.
    host.unregister(PLUGIN).await.unwrap();
    host.register(version("1")).await.unwrap();
    let again = call(&host, "app.echo", json!({ "text": "b" })).await.approval_request.unwrap();
    host.approvals().answer(&again, &Answer::Yes).await.unwrap();
    host.unregister(PLUGIN).await.unwrap();
    host.register(version("1")).await.unwrap();
    assert_eq!(host.resume(&again).await.unwrap().code, Code::Completed);
}

#[tokio::test]
async fn a_hook_can_refuse_a_call_of_a_native_tool() {
    let site = Site::new();
    let hook = hook_fn(
        async |call: &HookCall<'_>| {
            if call.tool.to_string() == "app.echo" { Hooked::refuse("not today") } else { Hooked::pass() }
        },
    );
    let host = site.builder(&allow_all("")).hook(hook).open().await.unwrap();
    let runs = Counter::default();
    host.register(plugin(&runs, &Counter::default())).await.unwrap();
    let reply = call(&host, "app.echo", json!({ "text": "a" })).await;
    assert_eq!((reply.code, runs.get()), (Code::HookRefused, 0));
}

#[tokio::test]
async fn an_explanation_does_not_run_the_function() {
    let site = Site::new();
    let (host, runs, _) = open(&site, &allow_all("")).await;
    let explained = host.explain(Request::json("app.echo", &json!({ "text": "a" }))).await.unwrap();
    assert!(matches!(explained.outlook, Outlook::Run { .. }), "{:?}", explained.outlook);
    assert!(explained.handles.iter().any(|line| line.contains("without a sandbox")), "{:?}", explained.handles);
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn a_function_that_hangs_is_dropped_at_its_time_limit() {
    let site = Site::new();
    let (host, _, ends) = open(&site, &allow_all("time = \"100 ms\"")).await;
    let reply = call(&host, "app.hangs", json!({})).await;
    assert_eq!(reply.code, Code::Limit(LimitKind::Time), "{}", reply.message);
    assert_eq!(ends.get(), 1, "its future is dropped");
    let reply = call(&host, "app.panics-late", json!({})).await;
    assert_eq!(reply.code, Code::Limit(LimitKind::Time), "a panic of the drop is caught: {}", reply.message);
    assert_eq!(host.calls_under_way(), 0);
}

#[tokio::test]
async fn a_cancelled_or_dropped_call_drops_the_function() {
    let site = Site::new();
    let (host, _, ends) = open(&site, &allow_all("time = \"60 s\"")).await;
    let mut events = host.events();
    let cancellation = Cancellation::new();
    let request = Request::new("app.hangs", "{}").cancellation(cancellation.clone());
    let mut running = async || {
        while let Some(event) = events.next().await {
            if matches!(event.kind, EventKind::State(CallState::Running)) {
                return;
            }
        }
    };
    let (reply, ()) = tokio::join!(host.call(request), async {
        running().await;
        cancellation.cancel();
    });
    assert_eq!((reply.code, ends.get()), (Code::Cancelled, 1));
    tokio::select! {
        reply = host.call(Request::new("app.hangs", "{}")) => panic!("it ended: {reply:?}"),
        () = running() => {}
    }
    assert_eq!((host.calls_under_way(), ends.get()), (0, 2));
}

#[tokio::test]
async fn a_panic_fails_the_call_and_leaves_the_host_usable() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    for tool in ["app.panics", "app.panics-at-once"] {
        let reply = call(&host, tool, json!({})).await;
        assert_eq!(reply.code, Code::Trapped, "{}", reply.message);
        assert!(!reply.message.contains("cheese"), "{}", reply.message);
        let detail = outcome_of(&host, &reply.id)["detail"].to_string();
        assert!(detail.contains("out of cheese"), "{detail}");
    }
    assert_eq!(call(&host, "app.echo", json!({ "text": "a" })).await.code, Code::Completed);
}

#[tokio::test]
async fn a_failure_reaches_the_model_as_that_of_a_plugin() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    let reply = call(&host, "app.fails", json!({})).await;
    assert_eq!((reply.code, reply.retry_after), (Code::ToolUnavailable, Some(Duration::from_secs(7))));
    assert!(reply.message.contains("The shop is closed."), "{}", reply.message);
}

#[tokio::test]
async fn an_answer_has_to_match_the_output_schema() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    let reply = call(&host, "app.numbers", json!({ "count": 3 })).await;
    assert_eq!(reply.output, Some(Output::Json(r#"{"count":3}"#.to_owned())), "{}", reply.message);
    let reply = call(&host, "app.numbers", json!({ "count": "three" })).await;
    assert_eq!(reply.code, Code::InvalidOutput, "{}", reply.message);
}

#[tokio::test]
async fn a_long_answer_is_kept_and_a_longer_one_is_refused() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("output = \"4096 B\"\ntransfer = \"64 KiB\"")).await;
    let reply = call(&host, "app.long", json!({ "lines": 1000 })).await;
    let reference = reply.reference.as_ref().unwrap_or_else(|| panic!("not kept: {}", reply.message));
    assert!(reply.message.len() < 6000 && reply.message.contains(&reference.id));
    let local = Principal::default();
    let whole = host.outputs().read(Reader { session: "default", principal: &local }, &reference.id, 0, 100_000).await;
    assert!(String::from_utf8_lossy(&whole.unwrap()).ends_with("line 1000\n"));
    let reply = call(&host, "app.long", json!({ "lines": 10_000 })).await;
    assert_eq!(reply.code, Code::Limit(LimitKind::Transfer), "{}", reply.message);
}

/// Returns the titles and fractions of the progress that was published.
fn progress(events: &mut portcullis::events::Events) -> Vec<(Option<String>, Option<f32>)> {
    let progress = |event: portcullis::events::Event| match event.kind {
        EventKind::Progress(progress) => Some((progress.title.clone(), progress.fraction)),
        EventKind::State(_) | EventKind::Lagged => None,
    };
    std::iter::from_fn(|| events.try_next()).filter_map(progress).collect()
}

#[tokio::test]
async fn progress_reaches_subscribers_and_is_bounded() {
    let site = Site::new();
    let host = site.open(&allow_all("progress-reports = 3")).await;
    let reports = NativeTool::new("reports", "Reports.", &json!({ "type": "object" }), async |call, _| {
        for step in 0..10_u8 {
            let fraction = Some(f32::from(step) / 2.0);
            call.report(Progress { title: Some(format!("step {step}")), fraction, ..Progress::default() });
        }
        assert_eq!((call.session(), call.principal().to_string().as_str()), ("s", "ada"));
        Ok(NativeAnswer::text(call.id()))
    });
    host.register(NativePlugin::new(PLUGIN, "1", "A test.").tool(reports)).await.unwrap();
    let mut events = host.events();
    let reply = host.call(Request::new("app.reports", "{}").session("s").principal("ada".parse().unwrap())).await;
    assert_eq!((reply.code, &reply.message), (Code::Completed, &reply.id));
    let step = |step: u8, fraction| (Some(format!("step {step}")), fraction);
    assert_eq!(progress(&mut events), [step(0, Some(0.0)), step(1, Some(0.5)), step(2, Some(1.0))]);
}

#[tokio::test]
async fn a_report_is_checked_and_none_arrives_after_the_call() {
    let site = Site::new();
    let host = site.open(&allow_all("progress-reports = 100")).await;
    let left = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&left);
    let reports = NativeTool::new("reports", "Reports.", &json!({ "type": "object" }), move |call, _| {
        *kept.lock().unwrap() = Some(call.clone());
        async move {
            call.report(Progress { title: Some("é".repeat(10_000)), fraction: Some(1.5), ..Progress::default() });
            Ok(NativeAnswer::text("done"))
        }
    });
    host.register(NativePlugin::new(PLUGIN, "1", "A test.").tool(reports)).await.unwrap();
    let mut events = host.events();
    assert_eq!(host.call(Request::new("app.reports", "{}")).await.code, Code::Completed);
    let call = left.lock().unwrap().take().unwrap();
    assert!(call.cancellation().is_cancelled(), "the tool's other tasks learn that the call has ended");
    call.report(Progress { title: Some("too late".to_owned()), ..Progress::default() });
    // The limit of the tools of plugins, and a fraction above 1 is none.
    assert_eq!(progress(&mut events), [(Some("é".repeat(2048)), None)]);
}

#[tokio::test]
async fn native_tools_are_marked_where_tools_are_listed() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    let offer = host.get("app.writes").unwrap();
    assert!(offer.plugin.is_native() && offer.plugin.is_registered() && !offer.plugin.is_standard());
    assert_eq!(offer.plugin.contract(), None);
    let reach = host.reach(&offer.plugin, &offer.tool);
    assert!(reach.writes && reach.leaves, "no sandbox keeps it from anything");
    let lines = host.handles(&offer.plugin);
    assert!(lines.iter().all(|(_, lines)| lines.iter().any(|line| line.contains("without a sandbox"))), "{lines:?}");
    let good = host.get("good.run").unwrap();
    assert!(!good.plugin.is_native() && !good.plugin.is_registered());
    assert!(host.get("app.none").is_none() && host.get("nothing").is_none());
}
