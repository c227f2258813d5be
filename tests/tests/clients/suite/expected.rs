//! The checks that are expected to fail, and why.

use super::checks::Check;

/// The names of checks: `scenario:check`, or `scenario` for all of its checks.
pub(crate) struct ExpectedFailures(Vec<String>);

impl ExpectedFailures {
    /// Reads a list. Every entry, or group of entries, must follow a comment with its reason.
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Self {
        let mut entries: Vec<String> = Vec::new();
        let mut has_reason = false;
        for line in text.lines().map(str::trim) {
            if let Some(entry) = line.strip_prefix("- ") {
                assert!(has_reason, "`{entry}` has no reason");
                assert!(!entries.iter().any(|other| other == entry), "`{entry}` is listed twice");
                entries.push(entry.to_owned());
            } else if line.starts_with('#') {
                has_reason = true;
            } else {
                assert!(["", "client:", "server:"].contains(&line), "`{line}` is not an entry");
                has_reason = false;
            }
        }
        Self(entries)
    }

    /// Returns every failure that is not expected, and every entry that matches no failure.
    pub(crate) fn judge(&self, checks: &[Check]) -> Vec<String> {
        let failed: Vec<&Check> = checks.iter().filter(|check| check.has_failed).collect();
        let covers = |entry: &str, check: &Check| entry == check.scenario || entry == check.address();
        let unexpected = failed.iter().filter(|check| !self.0.iter().any(|entry| covers(entry, check)));
        let unexpected = unexpected.map(|check| format!("{} fails: {}", check.address(), check.message));
        let stale = self.0.iter().filter(|entry| !failed.iter().any(|check| covers(entry, check)));
        unexpected.chain(stale.map(|entry| format!("{entry} does not fail: remove it from the list"))).collect()
    }
}

fn check(scenario: &str, id: &str, has_failed: bool) -> Check {
    Check { scenario: scenario.to_owned(), id: id.to_owned(), has_failed, message: "it is broken".to_owned() }
}

const LIST: &str = "client:\n  # They are broken.\n  - a\n  - b/c:one\n";

#[test]
fn a_listed_check_fails_and_no_other_one() {
    let listed = ExpectedFailures::parse(LIST);
    let mut checks = vec![check("a", "x", true), check("a", "y", false), check("b/c", "one", true)];
    assert_eq!(listed.judge(&checks), Vec::<String>::new());
    checks.extend([check("b/c", "two", true), check("d", "z", true), check("e", "z", false)]);
    assert_eq!(listed.judge(&checks), ["b/c:two fails: it is broken", "d:z fails: it is broken"]);
}

#[test]
fn a_listed_check_that_succeeds_or_is_absent_is_reported() {
    let listed = ExpectedFailures::parse(LIST);
    let stale = |name| format!("{name} does not fail: remove it from the list");
    assert_eq!(listed.judge(&[check("a", "x", false), check("b/c", "one", true)]), [stale("a")]);
    assert_eq!(listed.judge(&[check("a", "x", true)]), [stale("b/c:one")]);
}

#[test]
#[should_panic(expected = "`c` has no reason")]
fn an_entry_needs_a_reason() {
    ExpectedFailures::parse("client:\n  # They are broken.\n  - a\n\n  - c\n");
}
