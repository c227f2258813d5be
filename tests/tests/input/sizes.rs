//! Deep or large arguments: they are rejected at a known limit, in a time that does not grow with them. J04, J07.

use crate::input::desk::Desk;
use portcullis::{Code, Request};
use portcullis_tests::{Site, allow_all};
use std::time::{Duration, Instant};

/// Maximum nesting depth of arguments, including the object itself.
const DEPTH_MAX: usize = 64;

/// Default maximum size of arguments.
const BYTES_MAX: usize = 1 << 20;

/// Maximum time to check arguments of any size, on a busy machine and unoptimized.
const SOON: Duration = Duration::from_secs(3);

fn nested(open: &str, close: &str, depth: usize) -> String {
    format!("{{\"v\":{}1{}}}", open.repeat(depth), close.repeat(depth))
}

#[tokio::test]
async fn depth_is_limited() {
    let desk = Desk::new().await;
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let levels = open.matches(['[', '{']).count();
        let fits = (DEPTH_MAX - 1) / levels;
        assert!(desk.arguments(nested(open, close, fits)).is_ok(), "{open}");
        assert!(desk.refused(nested(open, close, fits + 1)).contains("deeper"), "{open}");
        let string = serde_json::to_string(&nested(open, close, fits + 1)).unwrap();
        assert!(desk.refused(string).contains("deeper"), "{open} in a string");
    }
}

#[tokio::test]
async fn a_million_levels_are_rejected_quickly() {
    let site = Site::new();
    let host = site.open(&allow_all("arguments = \"16 MiB\"")).await;
    let began = Instant::now();
    for (open, close) in [("[", ""), ("[", "]"), ("{\"a\":", ""), ("{\"a\":", "}"), ("[[],", "]")] {
        for document in [nested(open, close, 1_000_000), open.repeat(1_000_000)] {
            let reply = host.call(Request::new("good.run", document)).await;
            assert_eq!(reply.code, Code::MalformedArguments, "{open}{close}");
            assert!(reply.message.len() < 1000);
        }
    }
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[tokio::test]
async fn size_is_checked_before_parsing() {
    let desk = Desk::new().await;
    let of = |bytes: usize| format!("{{\"v\":\"{}\"}}", "x".repeat(bytes - 8));
    assert_eq!(of(100).len(), 100);
    assert!(desk.arguments(of(BYTES_MAX)).is_ok());
    assert!(desk.refused(of(BYTES_MAX + 1)).contains("larger than"));
    assert!(desk.refused(" ".repeat(BYTES_MAX + 1)).contains("larger than"));
    let began = Instant::now();
    assert!(desk.refused("x".repeat(64 << 20)).contains("larger than"));
    assert!(began.elapsed() < SOON);
}

/// The largest arguments of every shape are checked quickly.
#[tokio::test]
async fn the_largest_arguments_are_checked_quickly() {
    let desk = Desk::new().await;
    let most = BYTES_MAX - 16;
    let keys: Vec<String> = (0..most / 11).map(|key| format!("\"{key:06}\":1")).collect();
    let documents = [
        format!("{{\"v\":\"{}\"}}", "\\u0000".repeat(most / 6)),
        format!("{{\"v\":\"{}\"}}", "é".repeat(most / 2)),
        format!("{{\"v\":{}}}", "9".repeat(most)),
        format!("{{\"v\":1.{}}}", "1".repeat(most - 2)),
        format!("{{\"v\":0.{}1}}", "0".repeat(most - 3)),
        format!("{{\"v\":1e{}}}", "1".repeat(most - 2)),
        format!("{{\"v\":[{}1]}}", "1,".repeat(most / 2 - 2)),
        format!("{{\"v\":[{}{{}}]}}", "{},".repeat(most / 3 - 2)),
        format!("{{{}}}", keys.join(",")),
        format!("{{\"{}\":1}}", "k".repeat(most)),
        "\"".repeat(most),
        "-".repeat(most),
    ];
    for document in documents {
        let began = Instant::now();
        let _ = desk.arguments(&document);
        assert!(began.elapsed() < SOON, "{:.40} took {:?}", document, began.elapsed());
    }
}

/// A policy can set a lower limit for one plugin, which applies only to that plugin.
#[tokio::test]
async fn the_limit_of_one_plugin_applies_only_to_it() {
    let site = Site::new();
    let host = site.open(&format!("{}[plugin.good.limits]\narguments = \"100 B\"\n", allow_all(""))).await;
    let fits = format!("{{\"v\":\"{}\"}}", "x".repeat(92));
    assert_eq!(host.call(Request::new("good.run", fits.as_str())).await.code, Code::Completed);
    let larger = format!("{{\"v\":\"{}\"}}", "x".repeat(93));
    let reply = host.call(Request::new("good.run", larger)).await;
    assert_eq!(reply.code, Code::MalformedArguments, "{}", reply.message);
}
