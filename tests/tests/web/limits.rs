//! Large pages, slow servers, and unreachable servers.

use crate::web::lab::{Lab, NAMED, at, grant, serving, text};
use portcullis::Code;
use portcullis_tests::net::{Behaviour, Server};
use portcullis_tests::outcomes;
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_long_page_is_read_in_parts() {
    let page: String = (0..5000).map(|number| format!("<p>Paragraph {number}.</p>")).collect();
    let server = serving("text/html", page);
    let lab = Lab::of(&server).await;
    let url = at(NAMED, &server, "/");
    let (mut start, mut found) = (0, 0);
    loop {
        let part = text(&lab.call(&json!({ "url": url, "start": start, "limit": 40_000 })).await);
        found += part.lines().filter(|line| line.starts_with("Paragraph ")).count();
        let Some((_, next)) = part.split_once("continue with start ") else { break };
        start = next.trim_end_matches(")\n").parse().unwrap();
    }
    assert_eq!(found, 5000);
}

/// The policy's default limit equals the plugin's own, so the host ends the body.
#[tokio::test]
async fn a_page_over_the_policys_limit_is_shown_up_to_the_limit() {
    for (limit, bytes) in [("", 4 << 20), (", response-bytes = \"10 KiB\"", 10 << 10)] {
        let server = serving("text/html", format!("<p>Beginning.{}", "<!-- filler -->".repeat(400_000)));
        let lab = Lab::open(&grant(&[&server], limit), None).await;
        let text = lab.text(&at(NAMED, &server, "/")).await;
        let end = format!("\n\nBeginning.\n\n(the page continues; only its first {bytes} bytes were read)");
        assert!(text.contains(&end), "{text}");
    }
}

#[tokio::test]
async fn a_page_over_the_plugins_limit_is_shown_up_to_the_limit() {
    let server = serving("text/html", format!("<p>Beginning.{}", "<!-- filler -->".repeat(400_000)));
    let lab = Lab::open(&grant(&[&server], ", response-bytes = \"16 MiB\""), None).await;
    let text = lab.text(&at(NAMED, &server, "/")).await;
    assert!(text.contains("\n\nBeginning.\n\n(the page continues; only its first 4194304 bytes were read)"), "{text}");
}

/// The same as everywhere else, even if the grant names the host.
#[tokio::test]
async fn a_host_with_an_empty_label_is_rejected() {
    let server = serving("text/plain", "x");
    let lab = Lab::of(&server).await;
    for name in ["docs.test..", "docs.test...", "docs..test", ".docs.test", ".."] {
        let reply = lab.fetch(&at(name, &server, "/")).await;
        assert_ne!(reply.code, Code::Completed, "{name}: {}", reply.message);
    }
    server.saw_nothing();
    lab.text(&at("docs.test.", &server, "/")).await;
}

#[tokio::test]
async fn a_slow_server_takes_no_longer_than_the_policys_time_limit() {
    let first = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100000\r\n\r\n<p>";
    let drip = Server::plain(Behaviour::drip(first, "a", Duration::from_millis(50)));
    let silent = Server::plain(Behaviour::Silent);
    for server in [drip, silent] {
        let lab = Lab::open(&grant(&[&server], ", time = \"1 s\""), None).await;
        let began = Instant::now();
        let reply = lab.fetch(&at(NAMED, &server, "/")).await;
        assert_eq!(reply.code, Code::ToolUnavailable, "{}", reply.message);
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_server_that_resets_is_unavailable() {
    let server = Server::plain(Behaviour::Reset);
    let reply = Lab::of(&server).await.fetch(&at(NAMED, &server, "/")).await;
    assert_eq!(reply.code, Code::ToolUnavailable, "{}", reply.message);
}

#[tokio::test]
async fn a_dropped_call_records_the_requests_that_it_sent() {
    let server = Server::plain(Behaviour::Silent);
    let lab = Lab::of(&server).await;
    let url = at(NAMED, &server, "/page");
    {
        let fetching = lab.fetch(&url);
        let asked = async {
            while server.connections() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            reply = fetching => panic!("{}", reply.message),
            () = asked => {}
        }
    }
    let outcome = outcomes(&lab.host).pop().unwrap();
    assert_eq!(outcome["outcome"], "cancelled");
    assert_eq!(outcome["http"]["requests"][0]["url"], url.as_str(), "{outcome}");
}
