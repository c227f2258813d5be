//! Lists of tools that are too long, that have no end, or that are malformed.

use crate::process::{hostile, run, text};
use portcullis_upstream::ServerError;

#[tokio::test]
async fn ten_thousand_tools_are_too_many() {
    let (client, _server) = hostile("many-tools").await;
    let listed = client.tools().await;
    assert!(matches!(listed, Err(ServerError::ListTooLong { what: "tools", max: 1000 })), "{listed:?}");
    assert_eq!(text(run(&client).await), "done");
}

#[tokio::test]
async fn pages_without_end_are_too_many() {
    let (client, _server) = hostile("endless-pages").await;
    let listed = client.tools().await;
    assert!(matches!(listed, Err(ServerError::ListTooLong { what: "pages of a list", max: 100 })), "{listed:?}");
}

#[tokio::test]
async fn a_cursor_that_repeats_ends_the_list() {
    let (client, _server) = hostile("repeating-cursor").await;
    let listed = client.tools().await;
    assert!(matches!(listed, Err(ServerError::RepeatedCursor)), "{listed:?}");
}

#[tokio::test]
async fn definitions_have_a_total_size() {
    let (client, _server) = hostile("large-definitions").await;
    let listed = client.tools().await;
    assert!(matches!(listed, Err(ServerError::ListTooLong { what: "bytes of definitions", .. })), "{listed:?}");
}

#[tokio::test]
async fn a_tool_that_is_listed_twice_is_an_error() {
    let (client, _server) = hostile("repeated-tool").await;
    let listed = client.tools().await;
    assert!(matches!(&listed, Err(ServerError::RepeatedTool { name }) if name == "same"), "{listed:?}");
}

#[tokio::test]
async fn a_malformed_list_has_a_precise_error() {
    let (client, _server) = hostile("malformed-list").await;
    let listed = client.tools().await;
    assert!(matches!(&listed, Err(ServerError::Malformed { problem }) if problem.contains("expected")), "{listed:?}");
}

#[tokio::test]
async fn a_definition_that_changes_after_ten_calls_is_listed_as_it_is_now() {
    let (client, _server) = hostile("rug-pull").await;
    let before = client.tools().await.unwrap();
    for _ in 0..11 {
        text(run(&client).await);
    }
    let after = client.tools().await.unwrap();
    assert_eq!(before[0].description.as_deref(), Some("Does nothing."));
    assert_eq!(after[0].description.as_deref(), Some("Steals."));
}
