//! Tests the logic of the plugin against a scripted server.

use github_plugin::PLUGIN;
use portcullis_sdk::http::Method;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Value, from_slice};
use portcullis_sdk::testing::{self, Reply, call};
use portcullis_sdk::{Output, Success};

fn issue(number: u64, title: &str) -> Value {
    json!({ "number": number, "title": title, "state": "open", "user": { "login": "ada" }, "other": [] })
}

fn answering(reply: Reply) -> testing::Context {
    testing::Context::new().plays_server("api", move |_| Ok(reply.clone())).secret("api")
}

fn list(context: &testing::Context) -> Result<Success, Failure> {
    call(&PLUGIN, "issues", json!({ "repository": "ada/engine" }), context)
}

fn create(context: &testing::Context) -> Result<Success, Failure> {
    let arguments = json!({ "repository": "ada/engine", "title": "It stops", "body": "At **12**." });
    call(&PLUGIN, "create_issue", arguments, context)
}

#[test]
fn issues_are_listed_and_pull_requests_are_not() {
    let mut pull_request = issue(3, "Fix it");
    pull_request["pull_request"] = json!({});
    let reply = Reply::new(200).json(&json!([issue(4, "It\nstops"), pull_request, issue(1, "It starts")]));
    let success = list(&answering(reply)).unwrap();
    assert_eq!(success.output, Output::Text("#4 It stops (open, by ada)\n#1 It starts (open, by ada)\n".to_owned()));
    assert_eq!(success.title.as_deref(), Some("Listed 2 issues of ada/engine"));
    let metadata = json!({ "repository": "ada/engine", "state": "open", "numbers": [4, 1] });
    assert_eq!(success.metadata, Some(metadata));
    let none = list(&answering(Reply::new(200).json(&json!([])))).unwrap();
    assert_eq!(none.output, Output::Text("(no issues found)\n".to_owned()));
}

#[test]
fn the_list_is_one_request_without_a_token() {
    let context = answering(Reply::new(200).json(&json!([])));
    let arguments = json!({ "repository": "ada/engine", "state": "all", "limit": 5 });
    call(&PLUGIN, "issues", arguments, &context).unwrap();
    let sent = context.sent();
    let [request] = sent.as_slice() else { panic!("{sent:?}") };
    let url = "https://api.github.com/repos/ada/engine/issues?state=all&per_page=5";
    assert_eq!((request.method(), request.url()), (Method::Get, url));
    let names: Vec<&str> = request.headers().map(|(name, _)| name).collect();
    assert_eq!(names, ["accept", "x-github-api-version", "user-agent"]);
}

#[test]
fn an_issue_is_created_where_the_policy_says() {
    let reply = Reply::new(201).json(&json!({ "number": 7, "html_url": "https://example.test/ada/engine/issues/7" }));
    let context = answering(reply).setting("base", "http://127.0.0.1:8080/");
    let success = create(&context).unwrap();
    let text = "Created #7 in ada/engine: https://example.test/ada/engine/issues/7";
    assert_eq!(success.output, Output::Text(text.to_owned()));

    let sent = context.sent();
    let [request] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!((request.method(), request.url()), (Method::Post, "http://127.0.0.1:8080/repos/ada/engine/issues"));
    let body: Value = from_slice(request.content()).unwrap();
    assert_eq!(body, json!({ "title": "It stops", "body": "At **12**." }));
    let names: Vec<&str> = request.headers().map(|(name, _)| name).collect();
    assert_eq!(names, ["content-type", "accept", "x-github-api-version", "user-agent"]);
}

#[test]
fn nothing_is_created_without_a_token() {
    let context = testing::Context::new().plays_server("api", |_| Ok(Reply::new(201)));
    let told = "creating an issue needs a token, and the policy binds none to `api`";
    assert_eq!(create(&context), Err(Failure::denied(told)));
    assert_eq!(context.sent(), []);
}

#[test]
fn a_repository_cannot_lead_to_another_path() {
    let context = answering(Reply::new(200).json(&json!([])));
    let repositories =
        ["", "engine", "ada/", "/engine", "ada/..", "../user", "ada/engine/x", "a?b/c", "ada/e%2f", "ä/b"];
    for repository in repositories {
        let failure = call(&PLUGIN, "issues", json!({ "repository": repository }), &context).unwrap_err();
        assert!(matches!(failure, Failure::InvalidArguments(_)), "{repository}: {failure:?}");
    }
    assert_eq!(context.sent(), []);
}

#[test]
fn a_refusal_suggests_a_remedy() {
    let says = |status, message: &str| Reply::new(status).json(&json!({ "message": message }));
    let later = Failure::unavailable("the API's rate limit is reached; try again later");
    let cases = [
        (says(401, "Bad credentials"), "the API does not accept the token"),
        (says(403, "Not\nallowed"), "the API does not allow this for ada/engine: Not allowed"),
        (Reply::new(404), "there is no repository ada/engine, or the token has no access to it"),
        (Reply::new(410), "ada/engine has no issues"),
        (says(422, &"x".repeat(300)), "the API rejected the arguments: xxx"),
        (Reply::new(418).body("<html>"), "the API answered with status 418: no reason given"),
        (Reply::new(502), "the API failed (status 502)"),
        (Reply::new(301).header("location", "/repositories/1"), "ada/engine has moved"),
        (says(403, "rate").header("x-ratelimit-remaining", "0"), later.text()),
        (says(429, "rate"), later.text()),
    ];
    for (reply, told) in cases {
        let failure = list(&answering(reply)).unwrap_err();
        assert!(failure.text().starts_with(told) && failure.text().len() < 300, "{told}: {failure:?}");
    }
    let refused = testing::Context::new().plays_server("api", |_| Err(Failure::denied("the policy does not name it")));
    assert_eq!(list(&refused), Err(Failure::denied("the policy does not name it")));
}

#[test]
fn the_manifest_has_no_problems() {
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
    let rights: Vec<_> = PLUGIN.manifest().tools.iter().map(|tool| tool.required).collect();
    assert_eq!(rights, [&[Permission::Network][..], &[Permission::Network, Permission::Write]]);
    let failure = list(&testing::Context::new()).unwrap_err();
    assert_eq!(failure, Failure::denied("the policy grants no HTTP client `api` to this tool"));
}
