//! Converts real pages. The beginning of each result is in `tests/pages`, so that a change of the conversion can be
//! reviewed by its effect on these pages.

use std::path::{Path, PathBuf};
use std::{env, fs};

use portcullis_sdk::prelude::*;
use portcullis_sdk::testing::Reply;

use crate::web::{PAGE, call};

/// The names of the pages, as `cargo xtask suites` stores them.
const PAGES: [&str; 5] = ["bignumber", "docutils-quickref", "lxml-sax", "mako-caching", "npm-dedupe"];

/// Maximum number of characters of each to keep for comparison.
const CHARACTERS: usize = 10_000;

fn suite() -> PathBuf {
    let variable = "PORTCULLIS_TEST_PAGES";
    env::var_os(variable).map_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"), PathBuf::from)
}

#[test]
fn real_pages_are_converted_as_before() {
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let found = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut changed = Vec::new();
    for name in PAGES {
        let html = fs::read(suite().join(format!("{name}.html"))).unwrap();
        let reply = Reply::new(200).header("content-type", "text/html").body(html);
        let arguments = json!({ "url": PAGE, "limit": CHARACTERS });
        let text = call(arguments, move |_| Ok(reply.clone())).unwrap().text;
        let file = format!("{name}.md");
        if fs::read_to_string(expected.join(&file)).ok().as_deref() != Some(&text) {
            fs::write(found.join(&file), text).unwrap();
            let (found, expected) = (found.join(&file), expected.join(&file));
            changed.push(format!("diff {1} {0}\ncp {0} {1}", found.display(), expected.display()));
        }
    }
    assert!(changed.is_empty(), "read these, and accept the better ones:\n{}", changed.join("\n"));
}
