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
        // What comes before it in the template says what it is, and what follows are its tests: it is the whole plugin.
        let (head, tail) = text.split_once(block).unwrap_or_else(|| panic!("{template} is another one:\n{block}"));
        assert!(!block.is_empty() && head.lines().all(|line| line.is_empty() || line.starts_with("//!")), "{head}");
        assert!(tail.trim().is_empty() || tail.trim_start().starts_with("#[cfg(test)]"), "{tail}");
        assert!(block.lines().count() < LINES_MAX, "{fence} takes {} lines", block.lines().count());
    }
}
