//! Third-party pages, served from the loopback address.

use crate::web::lab::{Lab, NAMED, at, serving};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Each page, with texts that its result contains in this order, and texts that it does not contain.
const PAGES: [(&str, &[&str], &[&str]); 6] = [
    (
        "mako-caching",
        &["# Caching\n", "```mako\n<%page cached=\"True\"/>\n", "## Cache Arguments\n", "- `class mako.cache.Cache("],
        &["\u{b6}", "Search:", "Previous Topic", "<div"],
    ),
    (
        "docutils-quickref",
        &["# Quick", "| Plain text | Typical result | Notes |\n| --- | --- | --- |\n| `*emphasis*` | *emphasis* |"],
        &["<td", "javascript"],
    ),
    (
        "npm-dedupe",
        &["# npm-dedupe @11.6.2\n", "```bash\nnpm dedupe\n\nalias: ddp\n```", "- Default: \"hoisted\"\n- Type:"],
        &["Table of contents", "<svg", "font-family"],
    ),
    (
        "lxml-sax",
        &["# lxml.sax module\n", "- `class lxml.sax.ElementTreeContentHandler("],
        &["View page source", "\u{f0c1}"],
    ),
    ("bignumber", &["# bignumber.js\n", "```\nx = new BigNumber(123.4567)"], &["<pre", "prettify"]),
    ("chardet-cp932", &["Shift_JIS", "# \u{76f8}\u{624b}\u{304c}", "\u{7e8a}"], &["\u{fffd}"]),
];

fn suite() -> PathBuf {
    let variable = "PORTCULLIS_TEST_PAGES";
    env::var_os(variable).map_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"), PathBuf::from)
}

#[tokio::test]
async fn third_party_pages_are_readable() {
    for (name, parts, never) in PAGES {
        let html = fs::read(suite().join(format!("{name}.html"))).unwrap();
        let server = serving("text/html", html);
        let lab = Lab::of(&server).await;
        let text = lab.text(&at(NAMED, &server, &format!("/{name}.html"))).await;
        let mut rest = text.as_str();
        for part in parts {
            rest = rest.split_once(part).unwrap_or_else(|| panic!("{name} has no {part:?} there:\n{text}")).1;
        }
        for part in never {
            assert!(!text.contains(part), "{name} has {part:?}:\n{text}");
        }
    }
}

/// The component's result for a page equals the native build's, which people have reviewed.
#[tokio::test]
async fn the_component_reads_a_page_like_the_native_build() {
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/web/tests/pages/npm-dedupe.md");
    let expected = fs::read_to_string(expected).unwrap();
    let server = serving("text/html", fs::read(suite().join("npm-dedupe.html")).unwrap());
    let text = Lab::of(&server).await.text(&at(NAMED, &server, "/guide/page.html")).await;
    assert_eq!(text.replace(&at(NAMED, &server, ""), "https://docs.example"), expected);
}
