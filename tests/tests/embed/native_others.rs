//! Native tools beside plugins: tools that call them, and secrets that no answer of theirs may contain.

use crate::asking::client::{Client, Era};
use crate::composition::desk::{Desk, EVERY_TOOL, answers, relays, wanted};
use crate::embed::native_desk::{Counter, PLUGIN, open, plugin, text_schema};
use crate::network::lab::{Grant, Plan, answered, to};
use portcullis::events::{EventFilter, EventKind, Progress};
use portcullis::native::{NativeAnswer, NativeFailure, NativePlugin, NativeTool};
use portcullis::{Code, Output, Request};
use portcullis_mcp::ServerOptions;
use portcullis_tests::net::{Behaviour, Server};
use portcullis_tests::{Site, allow_all};
use serde_json::{Value, json};

const SECRET: &str = "tok-8c1f0a5e9d7b4326";

#[tokio::test]
async fn a_tool_calls_a_native_tool_as_it_calls_others() {
    let desk = Desk::new();
    let rules = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n\
                 [[rule]]\ntool = \"app.writes\"\ndecision = \"deny\"\n";
    let host = desk.open(rules, EVERY_TOOL).await;
    let runs = Counter::default();
    // The rules name tools of the plugin, which is unknown to the host until now.
    host.register(plugin(&runs, &Counter::default())).await.unwrap();
    let mut events = host.events();
    let calls = [wanted("app.echo", &json!({ "text": "inner" })), wanted("app.writes", &json!({ "text": "x" }))];
    let reply = host.call(relays(&calls).principal("ada".parse().unwrap())).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let answers = answers(&reply);
    assert!(answers[0].to_string().contains("inner"), "{answers:?}");
    assert!(answers[1].to_string().contains("denies"), "{answers:?}");
    assert_eq!(runs.get(), 1);
    let inner = std::iter::from_fn(|| events.try_next()).find(|event| &*event.tool == "app.echo").unwrap();
    assert_eq!((&*inner.principal, inner.parent.as_deref()), ("ada/relay", Some(&*reply.id)));
    // The audit log has the same tree.
    let mut parents = Vec::new();
    let audit = host.audit();
    let read = audit.read(|entry| {
        if entry.document["tool"] == "app.echo" {
            parents.push(entry.document["parent"].clone());
        }
        Ok(())
    });
    read.await.unwrap();
    assert_eq!(parents, [json!(reply.id)]);
}

/// A function can learn a secret of the policy in its own way. What it returns is searched like the answer of a plugin.
#[tokio::test]
async fn secrets_are_removed_from_what_a_native_tool_says() {
    let server = Server::plain(Behaviour::ok());
    let bearer = "{ host = \"good.test\", header = \"authorization\", value = \"Bearer {}\", from = \"file:token\" }";
    let grant = Grant::to(&["good.test"], &server).set("secret", bearer);
    let lab = Plan::new().await.file("token", SECRET).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    let leaks = NativeTool::new("leaks", "Leaks.", &text_schema(), async |call, arguments: Value| {
        call.report(Progress { title: Some(format!("with {SECRET}")), ..Progress::default() });
        match arguments["text"].as_str() {
            Some("fail") => Err(NativeFailure::failed(format!("not with {SECRET}"))),
            Some("json") => Ok(NativeAnswer::json(&json!({ "token": SECRET }))),
            _ => Ok(NativeAnswer::text(format!("it is {SECRET}")).title(SECRET).metadata(&json!({ "key": SECRET }))),
        }
    });
    lab.host.register(NativePlugin::new(PLUGIN, "1", "A test.").tool(leaks)).await.unwrap();
    let mut events = lab.host.events_with(EventFilter::new().with_payloads());
    for text in ["text", "json", "fail"] {
        let reply = lab.host.call(Request::json("app.leaks", &json!({ "text": text }))).await;
        let said = format!("{reply:?}");
        assert!(!said.contains(SECRET) && said.contains("[redacted by Portcullis]"), "{said}");
        if text == "json" {
            assert_eq!(reply.output, Some(Output::Json(r#"{"token":"[redacted by Portcullis]"}"#.to_owned())));
        }
    }
    // Arguments come from the caller. Only their events are searched.
    let echoed = lab.host.call(Request::json("app.leaks", &json!({ "text": SECRET }))).await;
    assert_eq!(echoed.code, Code::Completed);
    let heard: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
    assert!(heard.iter().any(|event| matches!(event.kind, EventKind::Progress(_))));
    let heard = format!("{heard:?}");
    assert!(!heard.contains(SECRET) && heard.contains("[redacted by Portcullis]"), "{heard}");
}

#[tokio::test]
async fn mcp_clients_see_which_tools_are_native() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("")).await;
    let server = portcullis_mcp::Server::new(host, ServerOptions::default()).unwrap();
    let mut client = Client::open(&server, Era::Legacy, json!({})).await;
    let page = client.request("tools/list", json!({})).await;
    let tools = page["tools"].as_array().unwrap_or_else(|| panic!("{page}"));
    let named = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let (native, sandboxed) = (named("app__echo"), named("good__run"));
    assert_eq!(native["_meta"], json!({ "portcullis/native": true }));
    assert_eq!(native["annotations"]["readOnlyHint"], false, "the host cannot promise that it changes nothing");
    assert!(sandboxed.get("_meta").is_none() && sandboxed["annotations"]["readOnlyHint"] == true, "{sandboxed}");
    let answer = client.call("app__echo", json!({ "text": "hello" })).await;
    assert!(answer.to_string().contains("hello"), "{answer}");
}
