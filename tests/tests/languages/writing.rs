//! The plugins in `docs/writing.md` are those that `portcullis new` writes, and the examples of READMEs compile.

use crate::row::repository;
use std::fs;

/// Maximum number of lines of a whole plugin on that page.
const LINES_MAX: usize = 25;

#[test]
fn the_page_shows_the_templates() {
    let page = fs::read_to_string(repository().join("docs/writing.md")).unwrap();
    let shown = page.split_once("## The same plugin in three languages").unwrap().1.split_once("\n## ").unwrap().0;
    for (fence, template) in
        [("rust", "rust/src/lib.rs"), ("ts", "typescript/src/plugin.ts"), ("python", "python/app.py")]
    {
        let block = shown.split_once(&format!("```{fence}\n")).unwrap_or_else(|| panic!("no {fence}")).1;
        let block = block.split_once("```").unwrap().0;
        let text = fs::read_to_string(repository().join("sdk/templates").join(template)).unwrap();
        let text = text.replace("{{name}}", "hello");
        // The template has a description before this block, and tests after it. So the block is the whole plugin.
        let (head, tail) = text.split_once(block).unwrap_or_else(|| panic!("{template} differs:\n{block}"));
        assert!(!block.is_empty() && head.lines().all(|line| line.is_empty() || line.starts_with("//!")), "{head}");
        assert!(tail.trim().is_empty() || tail.trim_start().starts_with("#[cfg(test)]"), "{tail}");
        assert!(block.lines().count() < LINES_MAX, "{fence} takes {} lines", block.lines().count());
    }
}

/// The examples of programs and tools in the READMEs of C and Zig are in the plugins that
/// `table::sdks_hold_at_their_edges` builds.
#[test]
fn the_readmes_show_examples_that_compile() {
    for (readme, fence, source) in [
        ("sdk/c/README.md", "c", "c/edges/src/plugin.c"),
        ("sdk/c/README.md", "cpp", "cpp/edges/src/plugin.cpp"),
        ("sdk/zig/README.md", "zig", "zig/edges/src/plugin.zig"),
    ] {
        let page = fs::read_to_string(repository().join(readme)).unwrap();
        let built = fs::read_to_string(repository().join("tests/languages").join(source)).unwrap();
        for section in ["Programs", "Tools of other plugins"] {
            let shown = page.split_once(&format!("\n### {section}\n")).unwrap().1.split_once("\n### ").unwrap().0;
            let block = shown.split_once(&format!("```{fence}\n")).unwrap_or_else(|| panic!("{section}: no {fence}")).1;
            let block = block.split_once("```").unwrap().0;
            assert!(
                !block.is_empty() && built.contains(block),
                "{source} does not have the example of {section}:\n{block}"
            );
        }
    }
}
