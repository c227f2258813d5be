//! The checks that may fail, and why.
//!
//! The suite reads lists of the same form, but applies them only to what a requirement set scores. This module judges
//! every check that ran, including the tasks extension.

use crate::conformance::suite::Check;

/// The allowed failures: `scenario:check`, or `scenario` for all of its checks, in the order of the file.
pub(crate) struct Baseline(Vec<String>);

impl Baseline {
    /// Reads a list. Every entry, or group of entries, must follow a comment with its reason.
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Self {
        let mut entries = Vec::new();
        let mut reason = false;
        for line in text.lines().map(str::trim) {
            match line.split_at_checked(2) {
                Some(("- ", entry)) => {
                    assert!(reason, "`{entry}` has no reason");
                    assert!(!entries.contains(&entry.to_owned()), "`{entry}` is listed twice");
                    entries.push(entry.to_owned());
                }
                _ if line.starts_with('#') => reason = true,
                _ if line.is_empty() || line == "server:" => reason = false,
                _ => panic!("`{line}` is not an entry"),
            }
        }
        Self(entries)
    }

    /// Returns every unexpected failure, and every entry that matches no failure.
    pub(crate) fn judge(&self, checks: &[Check]) -> Vec<String> {
        let failed: Vec<_> = checks.iter().filter(|check| check.failed).collect();
        let covers = |entry: &str, check: &Check| entry == check.scenario || entry == check.address();
        let unexpected = failed.iter().filter(|check| !self.0.iter().any(|entry| covers(entry, check)));
        let stale = self.0.iter().filter(|entry| !failed.iter().any(|check| covers(entry, check)));
        let unexpected = unexpected.map(|check| format!("{} fails: {}", check.address(), check.message));
        unexpected.chain(stale.map(|entry| format!("{entry} does not fail: take it off the list"))).collect()
    }
}

fn check(scenario: &str, id: &str, failed: bool) -> Check {
    Check { scenario: scenario.to_owned(), id: id.to_owned(), failed, message: String::new() }
}

const LIST: &str = "server:\n  # There are none.\n  - a\n  - b:one\n";

#[test]
fn a_listed_check_may_fail() {
    let checks = [check("a", "x", true), check("a", "y", false), check("b", "one", true), check("b", "two", false)];
    assert_eq!(Baseline::parse(LIST).judge(&checks), Vec::<String>::new());
}

#[test]
fn an_unlisted_check_may_not_fail() {
    let checks = [check("a", "x", true), check("b", "one", true), check("b", "two", true), check("c", "z", true)];
    let findings = Baseline::parse(LIST).judge(&checks);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings[0].starts_with("b:two fails") && findings[1].starts_with("c:z fails"), "{findings:?}");
}

#[test]
fn a_check_that_passes_may_not_be_listed() {
    let passing = [check("a", "x", false), check("b", "one", true)];
    let findings = Baseline::parse(LIST).judge(&passing);
    assert!(findings.len() == 1 && findings[0].starts_with("a does not fail"), "{findings:?}");
    let absent = [check("a", "x", true)];
    let findings = Baseline::parse(LIST).judge(&absent);
    assert!(findings.len() == 1 && findings[0].starts_with("b:one does not fail"), "{findings:?}");
}

#[test]
#[should_panic(expected = "has no reason")]
fn an_entry_needs_a_reason() {
    Baseline::parse("server:\n  # One.\n  - a\n\n  - b\n");
}
