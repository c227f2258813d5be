//! The snippets in `docs/agents.md` that users copy into the configuration of their agents.

use std::fs;
use std::path::Path;

/// Returns the only fenced block of a language that contains a text.
#[track_caller]
pub(crate) fn block(language: &str, holds: &str) -> String {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/agents.md")).unwrap();
    let blocks = page.split("\n```").filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    let found: Vec<&str> = blocks.filter(|block| block.contains(holds)).collect();
    assert_eq!(found.len(), 1, "docs/agents.md has one block of {language} with {holds:?}: {found:?}");
    found[0].to_owned()
}
