//! What the README shows of a tool is what `portcullis new` writes.

use crate::row::repository;
use std::fs;

/// The most lines that a whole plugin may take there.
const LINES_MAX: usize = 25;

#[test]
fn the_readme_shows_the_templates() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let shown = readme.split_once("## Write a tool").unwrap().1.split_once("\n## ").unwrap().0;
    for (fence, template) in
        [("rust", "rust/src/lib.rs"), ("ts", "typescript/src/plugin.ts"), ("python", "python/app.py")]
    {
        let block = shown.split_once(&format!("```{fence}\n")).unwrap_or_else(|| panic!("no {fence}")).1;
        let block = block.split_once("```").unwrap().0;
        let text = fs::read_to_string(repository().join("sdk/templates").join(template)).unwrap();
        let text = text.replace("{{name}}", "hello");
        // What follows in the template are its tests, and what comes before it says what it is.
        assert!(text.contains(block), "{template} is another one:\n{block}");
        assert!(block.lines().count() < LINES_MAX, "{fence} takes {} lines", block.lines().count());
    }
}
