//! Approvers, hooks and services that are closures work as those that are types.

use portcullis::services::{Key, Service, ServiceError, service_fn};
use portcullis::{Answer, Code, HookCall, Hooked, Request, approver_fn, hook_fn};
use portcullis_tests::{Site, allow_all, built_guest};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const ASK: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";

#[tokio::test]
async fn a_closure_answers_as_an_approver() {
    let site = Site::new();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let approver = approver_fn({
        let asked = Arc::clone(&asked);
        move |question| {
            let asked = Arc::clone(&asked);
            async move {
                let answer = match question.arguments.contains("please") {
                    true => Answer::Yes,
                    false => Answer::No { note: Some("say please".to_owned()) },
                };
                asked.lock().unwrap().push(question.tool.to_string());
                answer
            }
        }
    });
    let host = site.builder(ASK).approver(approver).open().await.unwrap();
    let approved = host.call(Request::new("good.run", r#"{"word":"please"}"#)).await;
    assert_eq!(approved.code, Code::Completed, "{}", approved.message);
    let denied = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(denied.code, Code::ApprovalDenied);
    assert!(denied.message.contains("say please"), "{}", denied.message);
    assert_eq!(*asked.lock().unwrap(), ["good.run", "good.run"]);
}

/// The future of an async closure may borrow the call.
#[tokio::test]
async fn a_closure_refuses_as_a_hook() {
    let site = Site::new();
    let hook = hook_fn(async |call: &HookCall<'_>| {
        tokio::task::yield_now().await;
        if call.arguments.contains("secret") { Hooked::refuse("it names a secret") } else { Hooked::pass() }
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = hook_fn({
        let seen = Arc::clone(&seen);
        move |call: &HookCall<'_>| {
            let (seen, session) = (Arc::clone(&seen), call.session.to_owned());
            async move {
                seen.lock().unwrap().push(session);
                Hooked::pass()
            }
        }
    });
    let host = site.builder(&allow_all("")).hook(hook).hook(notes).open().await.unwrap();
    let refused = host.call(Request::new("good.run", r#"{"a":"secret"}"#)).await;
    assert_eq!(refused.code, Code::HookRefused);
    assert!(refused.message.contains("it names a secret"), "{}", refused.message);
    let passed = host.call(Request::new("good.run", "{}").session("s")).await;
    assert_eq!(passed.code, Code::Completed, "{}", passed.message);
    assert_eq!(*seen.lock().unwrap(), ["s"], "the first refusal wins");
}

#[tokio::test]
async fn a_closure_answers_as_a_service() {
    const SEARCH: Key<dyn Service> = Key::new("search");
    let site = Site::new();
    site.plugin("service", &built_guest("service"));
    site.warm();
    let policy = allow_all("") + "[plugin.service]\nservice.search = { name = \"search\" }\n";
    let queries = Arc::new(Mutex::new(Vec::new()));
    let service = service_fn({
        let queries = Arc::clone(&queries);
        move |call, method, input| {
            let queries = Arc::clone(&queries);
            async move {
                queries.lock().unwrap().push(input.clone());
                match method.as_str() {
                    "query" => Ok(json!({ "input": input, "for": call.principal() })),
                    method => Err(ServiceError::unknown_method(method)),
                }
            }
        }
    });
    let builder = site.builder(&policy).provide(&SEARCH, move |_| Ok(Arc::clone(&service)));
    let host = builder.service("search", &SEARCH).open().await.unwrap();
    let steps = ["query", "other"].map(|method| json!({ "key": "search", "method": method, "input": "[1]" }));
    let reply = host.call(Request::json("service.run", &json!({ "steps": steps }))).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let results: Value = serde_json::from_str(&reply.message).unwrap();
    let answer: Value = serde_json::from_str(results[0]["ok"].as_str().unwrap()).unwrap();
    assert_eq!(answer, json!({ "input": [1], "for": "local" }));
    assert!(results[1].to_string().contains("the service has no method `other`"), "{results}");
    assert_eq!(*queries.lock().unwrap(), [json!([1]), json!([1])]);
}
