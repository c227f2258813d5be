//! Generators that misbehave. Each is refused, and changes nothing.

use crate::dynamic::desk::{Desk, refusal};
use std::fs;

async fn refused(mode: &str) -> String {
    let desk = Desk::new(&[]);
    let host = desk.in_mode(mode).await;
    assert!(host.catalog().plugin("dynamic").is_none(), "{mode}");
    refusal(&host).unwrap()
}

#[tokio::test]
async fn a_result_that_is_not_a_valid_set_of_tools_is_refused() {
    let expected = [
        ("trap", "it could not generate its tools: it trapped: "),
        ("too-many", "it has more than 2000 generated tools"),
        ("unstable", "the tools that it generates differ from one run to the next"),
        ("twice", "the tool same appears twice"),
        ("shadow", "the tool own appears twice"),
        ("name", "a tool has an invalid name (Not a\\nname)"),
        ("schema", "the schema of bad is refused: "),
        ("hidden", "contains the invisible or control character U+202E"),
    ];
    for (mode, text) in expected {
        let why = refused(mode).await;
        assert!(why.contains(text), "{mode}: {why}");
        assert!(!why.contains('\n'), "{mode}: {why}");
    }
}

#[tokio::test]
async fn a_hundred_thousand_definitions_reach_a_limit() {
    let why = refused("flood").await;
    assert!(why.contains("the limit on ") && why.contains(" was reached"), "{why}");
}

#[tokio::test]
async fn definitions_that_are_too_large_together_are_not_passed_to_the_host() {
    let why = refused("large").await;
    assert!(why.contains("the limit on transfer was reached"), "{why}");
}

#[tokio::test]
async fn a_long_error_of_a_generator_is_cut() {
    let why = refused("long-error").await;
    assert!(why.contains("xxx") && why.len() < 2000, "{} bytes", why.len());
}

#[tokio::test]
async fn a_generator_that_never_returns_is_stopped() {
    let why = refused("sleep").await;
    assert!(why.contains("the limit on time was reached"), "{why}");
}

#[tokio::test]
async fn a_generator_cannot_write_leave_its_directory_or_open_other_handles() {
    for attempt in ["write", "escape", "client", "store"] {
        let desk = Desk::new(&[]);
        fs::write(desk.site.path("outside.txt"), "outside").unwrap();
        let policy = crate::dynamic::desk::policy(&format!("try-{attempt}"));
        let policy = policy
            .replace("directory.lists", "http.site = { hosts = [\"example.org\"] }\nstore.seen = {}\ndirectory.lists");
        let host = desk.site.open(&policy).await;
        let catalog = host.catalog();
        let tool = catalog.plugin("dynamic").unwrap_or_else(|| panic!("{:?}", refusal(&host))).tools().next().unwrap();
        assert_eq!(tool.description(), "It failed.", "{attempt}");
        assert!(!desk.site.path("lists/written").exists());
    }
}
