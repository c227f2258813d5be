//! A narrowed tool takes only arguments that match both its own schema and the narrower one.

use crate::prepared::desk::{Desk, note, offered};
use portcullis::plugins::Offer;
use portcullis::{Code, Request};
use std::fs;

#[tokio::test]
async fn a_narrowed_definition_is_offered_and_checked_at_the_call() {
    let desk = Desk::new();
    let host = desk.open("narrow").await;
    let offered = offered(&host, "s").await;
    let own: Offer = host.catalog().offers().find(|offer| offer.tool.name().to_string() == "prepared.note").unwrap();
    let narrowed = offered.narrow(own.clone()).unwrap();
    assert_eq!(narrowed.tool.description(), "Notes a short text.");
    assert_eq!(narrowed.tool.schema().document()["properties"]["kind"]["enum"][0], "short");
    assert_eq!(narrowed.tool.permissions(), own.tool.permissions());
    assert_eq!(host.call(note("short")).await.message, "short milk");
    let long = host.call(note("long")).await;
    assert_eq!(long.code, Code::InvalidArguments);
    assert!(long.message.contains("/kind") && long.message.contains("It takes: kind, text."), "{}", long.message);
    // The narrower schema allows this; the tool's own does not.
    let too_long = format!("{{\"kind\":\"short\",\"text\":\"{}\"}}", "x".repeat(101));
    assert_eq!(host.call(Request::new("prepared.note", too_long)).await.code, Code::InvalidArguments);
    let other = r#"{"kind":"short","text":"a","other":1}"#;
    assert_eq!(host.call(Request::new("prepared.note", other)).await.code, Code::InvalidArguments);
    // A caller with another definition must read it again.
    let with = |offer: &Offer| note("short").of_definition(offer.tool.sha256());
    assert_eq!(host.call(with(&narrowed)).await.code, Code::Completed);
    assert_eq!(host.call(with(&own)).await.code, Code::DefinitionChanged);
}

#[tokio::test]
async fn a_wider_schema_allows_nothing_more() {
    let desk = Desk::new();
    let host = desk.open("widen").await;
    assert_eq!(host.call(note("long")).await.code, Code::Completed);
    let other = host.call(Request::new("prepared.note", r#"{"text":"a","other":1}"#)).await;
    assert_eq!(other.code, Code::InvalidArguments);
}

#[tokio::test]
async fn the_description_of_the_operator_stays() {
    let desk = Desk::new();
    fs::write(desk.site.plugins().join("prepared.note.md"), "Written by the operator.").unwrap();
    let host = desk.open("narrow").await;
    let offered = offered(&host, "s").await;
    let own = host.catalog().offers().find(|offer| offer.tool.name().to_string() == "prepared.note").unwrap();
    let narrowed = offered.narrow(own).unwrap();
    assert_eq!(narrowed.tool.description(), "Written by the operator.");
    assert_eq!(narrowed.tool.schema().document()["properties"]["kind"]["enum"][0], "short");
}
