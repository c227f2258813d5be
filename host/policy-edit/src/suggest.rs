//! Proposes the rules that would have allowed calls that people approved.
//!
//! A proposal is never wider than the directory of an approved path, or the host of an approved URL. It leaves open the
//! arguments that name no place. This file must not know where approvals are stored.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_policy::{Decision, Destination, Glob, ToolName};

use crate::edit::{RuleEdit, WhenValue};

/// Different places in one directory or on one host from which the directory or the host is proposed. One place alone
/// says nothing about its neighbours.
const NEIGHBOURS_MIN: usize = 2;

/// Maximum proposals. No one reviews a longer list.
pub const PROPOSALS_MAX: usize = 50;

/// An approved call: the arguments that name a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApprovedCall {
    /// The tool.
    pub tool: ToolName,
    /// The arguments that name a place: a name or JSON Pointer, and the path or URL.
    pub targets: BTreeMap<String, String>,
}

/// A rule that would have allowed approved calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProposal {
    /// The rule.
    pub rule: RuleEdit,
    /// How many of the approved calls it would have allowed.
    pub calls: usize,
}

/// Returns the smallest rules that would have allowed the calls, the one for most calls first. A call without a target
/// gets no rule, because a rule for all arguments would be wider than what was approved.
pub fn proposals(calls: &[ApprovedCall]) -> Vec<RuleProposal> {
    let mut groups: BTreeMap<(&ToolName, Vec<&String>), Vec<&ApprovedCall>> = BTreeMap::new();
    for call in calls.iter().filter(|call| !call.targets.is_empty()) {
        groups.entry((&call.tool, call.targets.keys().collect())).or_default().push(call);
    }
    let mut proposals: Vec<RuleProposal> = groups.into_values().flat_map(|calls| of_group(&calls)).collect();
    proposals.sort_by_key(|proposal| std::cmp::Reverse(proposal.calls));
    proposals.truncate(PROPOSALS_MAX);
    proposals
}

/// Returns the rules for calls of one tool with the same target arguments.
fn of_group(calls: &[&ApprovedCall]) -> Vec<RuleProposal> {
    let Some(first) = calls.first() else { return Vec::new() };
    let names: Vec<&String> = first.targets.keys().collect();
    match names.as_slice() {
        [name] => one_target(&first.tool, name, calls),
        _several => several_targets(&first.tool, calls),
    }
}

/// Returns one rule, with a pattern for each neighbourhood.
fn one_target(tool: &ToolName, name: &str, calls: &[&ApprovedCall]) -> Vec<RuleProposal> {
    let places: BTreeSet<&str> = calls.iter().filter_map(|call| call.targets.get(name).map(String::as_str)).collect();
    let mut neighbourhoods: BTreeMap<Option<String>, Vec<&str>> = BTreeMap::new();
    for place in places.into_iter().filter(|place| is_plain(place)) {
        neighbourhoods.entry(neighbourhood(place)).or_default().push(place);
    }
    let mut patterns = Vec::new();
    for (around, places) in neighbourhoods {
        match around.filter(|_| places.len() >= NEIGHBOURS_MIN) {
            Some(pattern) => patterns.push(pattern),
            None => patterns.extend(places.into_iter().map(Glob::escape)),
        }
    }
    if patterns.is_empty() {
        return Vec::new();
    }
    let calls = calls.iter().filter(|call| call.targets.get(name).is_some_and(|place| is_plain(place))).count();
    vec![RuleProposal { rule: rule(tool, vec![(name.to_owned(), patterns)]), calls }]
}

/// Returns a rule for each combination, because patterns for each argument alone would also allow other combinations.
fn several_targets(tool: &ToolName, calls: &[&ApprovedCall]) -> Vec<RuleProposal> {
    let mut combinations: BTreeMap<&BTreeMap<String, String>, usize> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.targets.values().all(|place| is_plain(place))) {
        *combinations.entry(&call.targets).or_default() += 1;
    }
    let proposal = |(targets, calls): (&BTreeMap<String, String>, usize)| {
        let when = targets.iter().map(|(name, place)| (name.clone(), vec![Glob::escape(place)])).collect();
        RuleProposal { rule: rule(tool, when), calls }
    };
    combinations.into_iter().map(proposal).collect()
}

fn rule(tool: &ToolName, when: Vec<(String, Vec<String>)>) -> RuleEdit {
    let texts = |(name, patterns): (String, Vec<String>)| (name, patterns.into_iter().map(WhenValue::Text).collect());
    let mut rule = RuleEdit::new(Decision::Allow, tool.to_string());
    rule.when = when.into_iter().map(texts).collect();
    rule
}

/// Returns whether an allow rule can match a place: it has no `.` or `..` segment, no backslash and no control
/// character.
fn is_plain(place: &str) -> bool {
    let segments = || place.split('/');
    !place.is_empty()
        && !place.contains('\\')
        && !place.chars().any(char::is_control)
        && segments().all(|segment| segment != "." && segment != "..")
}

/// Returns the pattern of the directory of a path, or of the host of a URL. None at the top of a directory, whose
/// neighbours are everything.
fn neighbourhood(place: &str) -> Option<String> {
    if place.contains("://") {
        return of_host(place);
    }
    let (directory, _) = place.trim_end_matches('/').rsplit_once('/')?;
    (!directory.is_empty()).then(|| format!("{}/*", Glob::escape(directory)))
}

/// Returns the pattern of every path of a URL's scheme, host and port, as the URL spells them.
fn of_host(url: &str) -> Option<String> {
    // A URL that the network code would refuse names no host that could be proposed.
    Destination::from_url(url).ok()?;
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let is_host = !authority.is_empty() && !authority.contains('@') && rest.get(authority.len()..)?.starts_with('/');
    is_host.then(|| format!("{}://{}/**", Glob::escape(scheme), Glob::escape(authority)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, targets: &[(&str, &str)]) -> ApprovedCall {
        let targets = targets.iter().map(|(name, place)| ((*name).to_owned(), (*place).to_owned())).collect();
        ApprovedCall { tool: tool.parse().unwrap(), targets }
    }

    fn patterns(calls: &[ApprovedCall]) -> Vec<String> {
        let text = |value: &WhenValue| match value {
            WhenValue::Text(text) => text.clone(),
            WhenValue::Integer(_) | WhenValue::Boolean(_) => panic!("only places are proposed"),
        };
        let found = proposals(calls);
        found.iter().flat_map(|found| &found.rule.when).flat_map(|(_, values)| values.iter().map(text)).collect()
    }

    #[test]
    fn one_place_is_proposed_exactly_and_neighbours_as_their_directory() {
        let of = |paths: &[&str]| {
            patterns(&paths.iter().map(|path| call("files.write", &[("path", path)])).collect::<Vec<_>>())
        };
        assert_eq!(of(&["src/a*.rs"]), [r"src/a\*.rs"]);
        assert_eq!(of(&["src/a.rs", "src/a.rs"]), ["src/a.rs"]);
        assert_eq!(of(&["src/a.rs", "src/b.rs", "docs/c.md"]), ["docs/c.md", "src/*"]);
        assert_eq!(of(&["a", "b"]), ["a", "b"], "the top directory is everything");
        assert!(of(&["../a", "b\\c", "d/./e"]).is_empty(), "no allow rule can match these");
    }

    #[test]
    fn pages_of_one_host_are_proposed_as_the_host() {
        let of =
            |urls: &[&str]| patterns(&urls.iter().map(|url| call("web.fetch", &[("url", url)])).collect::<Vec<_>>());
        assert_eq!(
            of(&["https://docs.rs/a", "https://docs.rs/b", "http://docs.rs/c"]),
            ["http://docs.rs/c", "https://docs.rs/**"]
        );
        assert_eq!(of(&["https://a@docs.rs/a", "https://a@docs.rs/b"]).len(), 2);
        let evil = of(&["https://docs.rs/a", "https://docs.rs.evil.example/b"]);
        assert_eq!(evil.len(), 2, "{evil:?}");
    }

    #[test]
    fn a_call_with_two_places_is_proposed_as_this_combination() {
        let calls = [
            call("files.move", &[("from", "a/b"), ("to", "c/d")]),
            call("files.move", &[("from", "a/x"), ("to", "c/y")]),
        ];
        assert_eq!(proposals(&calls).len(), 2);
        assert!(proposals(&[call("files.move", &[])]).is_empty());
    }
}
