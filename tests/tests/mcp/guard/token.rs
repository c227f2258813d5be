//! The token: every request needs it, and it never leaks.

use crate::guard::oauth::read_rest;
use crate::guard::service::{GOOD, LEGACY, OTHER_TOKEN, Service, TOKEN};
use portcullis::policy::Principal;
use portcullis_mcp::http::{Access, Tokens};
use std::fs;
use std::path::Path;

#[tokio::test]
async fn every_call_needs_a_token_even_on_this_machine() {
    let service = Service::open().await;
    let wrong =
        ["", "Bearer", "Bearer ", "Bearer wrong", TOKEN, &format!("Basic {TOKEN}"), &format!("Bearer {TOKEN}x")];
    for authorization in wrong {
        let ask = service.call(GOOD).having("Authorization", authorization);
        let answer = service.send(&ask).await.is(401);
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer "), "{answer:?}");
    }
    service.send(&service.call(GOOD).without("Authorization")).await.is(401);
    service.send(&service.call(GOOD).with("Authorization", &format!("Bearer {TOKEN}"))).await.is(401);
    let cookie = service.call(GOOD).without("Authorization").with("Cookie", &format!("token={TOKEN}"));
    service.send(&cookie).await.is(401);
    service.send(&service.call(GOOD)).await.is(200);
    let open = Service::with(|options| options.access = Access::Everyone).await;
    open.send(&open.call(GOOD).without("Authorization")).await.is(200);
}

#[tokio::test]
async fn a_token_in_the_address_is_rejected_even_with_a_valid_header() {
    let service = Service::open().await;
    for query in [format!("access_token={TOKEN}"), format!("token={TOKEN}"), String::new()] {
        let mut ask = service.call(GOOD);
        ask.line = format!("POST /mcp?{query} HTTP/1.1");
        let answer = service.send(&ask).await.is(400);
        assert!(!answer.body.contains(TOKEN), "{answer:?}");
        service.send(&ask.without("Authorization")).await.is(400);
    }
}

#[tokio::test]
async fn calls_are_recorded_for_the_tokens_principal_and_the_token_is_recorded_nowhere() {
    let service = Service::open().await;
    service.send(&service.call(GOOD)).await.is(200);
    service.send(&service.call(GOOD).having("Authorization", &format!("Bearer {OTHER_TOKEN}"))).await.is(200);
    let session = service.session(OTHER_TOKEN).await;
    let Service { site, host, running } = service;
    running.stop().await;
    assert_eq!(host.calls_under_way(), 0);
    drop(host);
    let mut texts = Vec::new();
    read_all(&site.state(), &mut texts);
    let holds =
        |needle: &str| texts.iter().any(|text| text.windows(needle.len()).any(|part| part == needle.as_bytes()));
    assert!(holds("\"local\"") && holds("\"mcp.other\""));
    for secret in [TOKEN, OTHER_TOKEN, &session] {
        assert!(!holds(secret), "{secret} was written to the state directory");
    }
}

fn read_all(directory: &Path, texts: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, texts);
        } else {
            texts.push(fs::read(&path).unwrap());
        }
    }
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_removed_from_the_file() {
    let service = Service::open().await;
    let session = service.session(OTHER_TOKEN).await;
    let listen = service.ask("GET").with("MCP-Protocol-Version", LEGACY).with("Mcp-Session-Id", &session);
    let listen = listen.having("Authorization", &format!("Bearer {OTHER_TOKEN}"));
    let (answer, stream) = listen.open(service.address()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let left = Tokens::parse(TOKEN, &Principal::default()).unwrap();
    service.running.replace_access(Access::Tokens(left));
    read_rest(stream).await;
    service.send(&listen).await.is(401);
    service.send(&service.call(GOOD)).await.is(200);
}
