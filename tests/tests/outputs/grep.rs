//! Searching kept outputs.

use crate::outputs::desk::{SHOWN, call, lines, named, open, reference, site, text};
use portcullis::Code;
use portcullis_tests::{Manifest, component, module};
use serde_json::{Value, json};

/// Writes one line of a mebibyte, with a needle across the end of the first window, one after it, and one at the end.
const LONG: &str = r#"
(memory $memory 32)
(data (i32.const 2048) "needle")
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 1048576))
  (memory.copy (i32.const 131066) (i32.const 2048) (i32.const 6))
  (memory.copy (i32.const 265536) (i32.const 2048) (i32.const 6))
  (memory.copy (i32.const 1114106) (i32.const 2048) (i32.const 6))
  (call $answer (i32.const 0) (i32.const 65536) (i32.const 1048576)))
"#;

async fn grep(host: &portcullis::Host, reference: &str, more: Value) -> String {
    let mut arguments = more;
    arguments["reference"] = json!(reference);
    text(&call(host, "output.grep", arguments).await).to_owned()
}

/// Returns the matches: the number and the mark of each line, and the separators between groups.
fn found(page: &str) -> Vec<String> {
    let lines = page.lines().filter(|line| !line.starts_with("[Portcullis: "));
    lines.map(|line| line.trim_start().split("line").next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn matching_lines_are_shown_with_their_context() {
    let site = site().await;
    let host = open(&site).await;
    let id = reference(&lines(&host, 1000).await);
    let page = grep(&host, &id, json!({ "pattern": r"^line (500|503|900) \.", "before": 1, "after": 2 })).await;
    let expected = ["499-", "500:", "501-", "502-", "503:", "504-", "505-", "--", "899-", "900:", "901-", "902-"];
    assert_eq!(found(&page), expected);
    assert!(page.ends_with("[Portcullis: 3 matching lines, of 1000 lines.]\n"), "{page}");
    assert_eq!(found(&grep(&host, &id, json!({ "pattern": "LINE 77 " })).await), [""; 0]);
    assert_eq!(found(&grep(&host, &id, json!({ "pattern": "LINE 77 ", "ignore_case": true })).await), ["77:"]);
    assert_eq!(found(&grep(&host, &id, json!({ "pattern": r"line 1000 \.*$" })).await), ["1000:"]);
}

#[tokio::test]
async fn a_search_stops_at_its_limit_or_at_a_full_page_and_can_continue() {
    let site = site().await;
    let host = open(&site).await;
    let id = reference(&lines(&host, 1000).await);
    let page = grep(&host, &id, json!({ "pattern": "^line", "max_matches": 3 })).await;
    assert_eq!(found(&page), ["1:", "2:", "3:"]);
    assert!(page.contains("\"offset\":4, ..."), "{page}");
    let (mut offset, mut seen) = (1, 0_u64);
    loop {
        let page = grep(&host, &id, json!({ "pattern": "^line", "max_matches": 10_000, "offset": offset })).await;
        assert!(page.len() <= SHOWN);
        for line in found(&page) {
            seen += 1;
            assert_eq!(line, format!("{seen}:"));
        }
        let Some(at) = page.find("\"offset\":") else { break };
        offset = page[at + 9..].split(',').next().unwrap().parse::<u64>().unwrap();
        assert_eq!(offset, seen + 1);
    }
    assert_eq!(seen, 1000);
}

/// A very long line is searched in windows. A match across two windows is found, and anchors match only at the ends of
/// the line.
#[tokio::test]
async fn a_long_line_is_searched_completely() {
    let site = site().await;
    site.plugin("long", &component(&module(LONG, &Manifest::of("long"))));
    let host = open(&site).await;
    let id = reference(&call(&host, "long.run", json!({})).await);
    for (pattern, is_found) in [
        ("needle", true),
        ("xneedlex", true),
        ("needlex{100}needle", false),
        ("needle$", true),
        ("^needle", false),
        ("^x+needle", false),
        ("x$", false),
        (r"\bneedle", false),
        (r"needle\b", true),
        ("^x", true),
    ] {
        // In a line that is longer than a window, a match that is longer than a window is not found. The documentation
        // says so.
        let page = grep(&host, &id, json!({ "pattern": pattern })).await;
        assert_eq!(!found(&page).is_empty(), is_found, "{pattern}: {page}");
        assert!(page.len() < 1024);
    }
    let page = grep(&host, &id, json!({ "pattern": "needle" })).await;
    assert!(page.contains("[from byte 65431 of the line] x"), "{page}");
    let back = json!({ "reference": id, "column": 65_531, "limit": 1 });
    assert!(text(&call(&host, "output.read", back).await).starts_with("     1\tneedlexx"));
}

#[tokio::test]
async fn an_expensive_pattern_is_rejected() {
    let site = site().await;
    let host = open(&site).await;
    let id = reference(&lines(&host, 100).await);
    for pattern in ["(", r"(?=x)", r"(a)\1", r"(\w{100}){100}", "x{1000}{1000}"] {
        let reply = call(&host, "output.grep", json!({ "reference": id, "pattern": pattern })).await;
        assert_eq!(reply.code, Code::ToolRejectedArguments, "{pattern}: {}", reply.message);
        assert!(reply.message.contains("the pattern cannot be used"), "{}", reply.message);
    }
    assert_eq!(named("nothing", "output.grep"), None);
}
