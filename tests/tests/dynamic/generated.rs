//! Generated tools are tools like all others.

use crate::dynamic::desk::{Desk, call, policy, refusal, tools};
use portcullis::Code;
use std::fs;

#[tokio::test]
async fn generated_tools_follow_those_of_the_manifest_and_run() {
    let desk = Desk::new(&[("alpha", "The first."), ("beta", "The second.")]);
    let host = desk.open().await;
    assert_eq!(tools(&host), ["alpha", "beta", "own"]);
    let catalog = host.catalog();
    let plugin = catalog.plugin("dynamic").unwrap();
    assert!(plugin.generates());
    assert_eq!(plugin.tools().next().unwrap().description(), "The first.");
    let reply = call(&host, "alpha", r#"{"word":"hello"}"#).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, r#"alpha {"word":"hello"}"#));
    assert_eq!(call(&host, "own", "{}").await.message, "own");
}

#[tokio::test]
async fn the_arguments_of_a_generated_tool_are_checked_against_its_schema() {
    let desk = Desk::new(&[("alpha", "The first.")]);
    let host = desk.open().await;
    assert_eq!(call(&host, "alpha", r#"{"word":7}"#).await.code, Code::InvalidArguments);
    assert_eq!(call(&host, "alpha", "{}").await.code, Code::InvalidArguments);
}

#[tokio::test]
async fn a_rule_can_name_a_generated_tool_but_not_one_that_is_not_generated() {
    let desk = Desk::new(&[("alpha", "The first.")]);
    let rule = |tool: &str| policy("") + &format!("[[rule]]\ntool = \"dynamic.{tool}\"\ndecision = \"deny\"\n");
    let host = desk.site.open(&rule("alpha")).await;
    assert_eq!(call(&host, "alpha", r#"{"word":"hello"}"#).await.code, Code::PolicyDenied);
    drop(host);
    let error = desk.site.builder(&rule("alhpa")).open().await.unwrap_err();
    assert!(error.to_string().contains("the plugin has no such tool; did you mean `dynamic.alpha`?"), "{error}");
}

#[tokio::test]
async fn a_description_file_replaces_the_description_of_a_generated_tool() {
    let desk = Desk::new(&[("alpha", "The first.")]);
    fs::write(desk.site.plugins().join("dynamic.alpha.md"), "Written by the operator.").unwrap();
    let host = desk.open().await;
    let catalog = host.catalog();
    let tool = catalog.plugin("dynamic").unwrap().tools().next().unwrap();
    assert_eq!(tool.description(), "Written by the operator.");
}

#[tokio::test]
async fn a_failing_generator_refuses_its_plugin_alone_and_its_message_is_escaped() {
    let desk = Desk::new(&[]);
    desk.site.plugin("good", &portcullis_tests::guest("good", &portcullis_tests::Manifest::of("good")));
    let host = desk.in_mode("error").await;
    let why = refusal(&host).unwrap();
    assert!(why.starts_with("it could not generate its tools: the document is "), "{why}");
    assert!(!why.contains('\u{1b}'), "{why}");
    assert!(host.catalog().plugin("good").is_some());
    fs::remove_file(desk.site.path("lists/tools.json")).unwrap();
    assert!(refusal(&desk.open().await).unwrap().contains("it could not generate its tools: "));
}

#[tokio::test]
async fn a_plugin_that_could_not_generate_loads_once_its_document_is_there() {
    let desk = Desk::new(&[]);
    fs::remove_file(desk.site.path("lists/tools.json")).unwrap();
    let host = desk.open().await;
    assert!(host.catalog().plugin("dynamic").is_none());
    desk.list(&[("alpha", "The first.")]);
    let reloaded = host.reload().await.unwrap();
    assert_eq!(reloaded.added.iter().map(ToString::to_string).collect::<Vec<_>>(), ["dynamic"]);
    assert_eq!(tools(&host), ["alpha", "own"]);
    assert_eq!(refusal(&host), None);
}
