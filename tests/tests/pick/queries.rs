//! The list of queries, and checks that the list has its stated properties.

use portcullis_tests::botocore;
use std::collections::BTreeSet;

const QUERIES: &str = include_str!("../../data/pick-queries.txt");

/// The parts of the list. The queries of the second contain no word of the tool's name.
pub(crate) const PARTS: [&str; 3] = ["as one would ask", "in other words", "as one would say it"];

/// Words in tool names that do not say what the tool does.
const GENERIC: [&str; 17] = [
    "by", "create", "delete", "describe", "for", "from", "get", "in", "is", "list", "of", "on", "put", "set", "to",
    "update", "with",
];

/// One entry of the list.
pub(crate) struct Query {
    /// The need in a person's own words.
    pub(crate) need: &'static str,
    /// The query of a model that looks for a tool.
    pub(crate) text: &'static str,
    /// The full names of the tools that satisfy the need: one, or two equivalent ones.
    pub(crate) tools: Vec<&'static str>,
    /// The part of the list.
    pub(crate) part: &'static str,
}

impl Query {
    /// Returns whether one of the tools is among the first `count` results.
    pub(crate) fn is_answered(&self, shown: &[String], first: usize) -> bool {
        shown.iter().take(first).any(|name| self.tools.contains(&name.as_str()))
    }
}

/// Returns the list, in order.
pub(crate) fn queries() -> Vec<Query> {
    let mut queries = Vec::new();
    let (mut part, mut need) = ("", "");
    for line in QUERIES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            part = name.trim_end_matches(']');
            continue;
        }
        let Some(text) = line.strip_prefix("    ") else {
            need = line;
            continue;
        };
        let (text, tools) = text.split_once(" -> ").unwrap_or_else(|| panic!("no tool: {line}"));
        queries.push(Query { need, text, tools: tools.split(' ').collect(), part });
    }
    queries
}

/// Returns the words of a text in lower case.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns whether two words are forms of one word, such as `object` and `objects`, or `archive` and `archival`.
fn alike(one: &str, other: &str) -> bool {
    let common = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    one.trim_end_matches('s') == other.trim_end_matches('s') || common >= 5
}

#[test]
fn a_hundred_queries_cover_every_service() {
    let manifests = botocore::manifests();
    let names = |manifest: &portcullis_tests::Manifest| {
        let name = manifest.name.clone();
        manifest.tools.iter().map(move |tool| format!("{name}.{}", tool.name)).collect::<Vec<_>>()
    };
    let known: BTreeSet<String> = manifests.iter().flat_map(names).collect();
    let queries = queries();
    assert_eq!(queries.len(), 100);
    assert_eq!(queries.iter().map(|query| query.need).collect::<BTreeSet<_>>().len(), 100);
    for query in &queries {
        assert!(PARTS.contains(&query.part), "{}", query.part);
        assert!((1..=2).contains(&query.tools.len()), "{}", query.text);
        query.tools.iter().for_each(|tool| assert!(known.contains(*tool), "there is no {tool}"));
    }
    for manifest in &manifests {
        let wants = |query: &Query| query.tools.iter().any(|tool| tool.split('.').next() == Some(&manifest.name));
        assert!(queries.iter().any(wants), "no query is for {}", manifest.name);
    }
}

#[test]
fn a_third_of_the_needs_contain_no_word_of_the_name() {
    let queries = queries();
    let other: Vec<_> = queries.iter().filter(|query| query.part == PARTS[1]).collect();
    assert!(other.len() >= 30);
    for Query { need, tools, .. } in other {
        let names = tools.iter().flat_map(|tool| words(tool.split_once('.').unwrap().1));
        for name in names.filter(|name| !GENERIC.contains(&name.as_str())) {
            assert!(!words(need).iter().any(|word| alike(word, &name)), "{name} is in {need:?}");
        }
    }
}
