//! How often the right tool is among the first results, compared with a plain search.

#![allow(clippy::print_stdout, reason = "the figures are what this test is for")]

use crate::pick::queries::{PARTS, Query, queries, words};
use portcullis::plugins::{Catalog, Tool};
use portcullis_tests::botocore;
use std::collections::BTreeMap;

/// Maximum number of results.
const SHOWN_MAX: usize = 10;

/// The number of results that a model reads.
const FEW: usize = 5;

/// Minimum number, of a hundred model queries, that must find their tool among these results.
const WANTED: usize = 90;

/// The same for a hundred needs in people's own words. Many share no word with the tool, and a word search cannot find
/// those. This prevents a regression.
const WANTED_OF_PEOPLE: usize = 73;

#[tokio::test]
async fn nine_in_ten_queries_find_their_tool_among_the_first_five() {
    let host = botocore::site().open("").await;
    let catalog = host.catalog();
    let texts = texts(&catalog);
    println!("a catalog of {} tools, {} queries", catalog.tools().count(), queries().len());
    let asked = |query: &Query| query.text;
    let found = Found::of(|query| picked(&catalog, asked(query)));
    let plain = Found::of(|query| containing(&texts, asked(query)));
    found.print("as a model asks: pick");
    plain.print("as a model asks: substrings");
    assert!(found.within(FEW) >= WANTED, "{}", found.missed());
    assert!(found.within(FEW) > plain.within(FEW));
    let raw = Found::of(|query| picked(&catalog, query.need));
    let raw_plain = Found::of(|query| containing(&texts, query.need));
    raw.print("as a person says it: pick");
    raw_plain.print("as a person says it: substrings");
    assert!(raw.within(FEW) >= WANTED_OF_PEOPLE, "{}", raw.missed());
    assert!(raw.within(FEW) > raw_plain.within(FEW));
}

/// The host's results. The number of requested results does not change their order.
fn picked(catalog: &Catalog, query: &str) -> Vec<String> {
    let pick = |limit| catalog.pick(query, limit).iter().map(|offer| offer.tool.name().to_string()).collect::<Vec<_>>();
    let shown = pick(SHOWN_MAX);
    assert_eq!(pick(FEW), shown[..shown.len().min(FEW)], "{query}");
    shown
}

/// Returns every tool's full name, with its name and description as a plain search reads them.
fn texts(catalog: &Catalog) -> BTreeMap<String, String> {
    let text = |tool: &Tool| format!("{}\n{}", tool.name(), tool.description()).to_lowercase();
    catalog.tools().map(|(_, tool)| (tool.name().to_string(), text(tool))).collect()
}

/// What a plain search finds: the tools in whose name and description most of the query's words occur, as they are
/// written but for their case, wherever in a word; among equals the first by name.
fn containing(texts: &BTreeMap<String, String>, query: &str) -> Vec<String> {
    let words = words(query);
    let count = |text: &str| words.iter().filter(|word| text.contains(word.as_str())).count();
    let mut found: Vec<_> =
        texts.iter().map(|(name, text)| (count(text), name)).filter(|(count, _)| *count > 0).collect();
    found.sort_by(|(many, one), (few, other)| few.cmp(many).then_with(|| one.cmp(other)));
    found.into_iter().take(SHOWN_MAX).map(|(_, name)| name.clone()).collect()
}

/// The results for each query.
struct Found(Vec<(Query, Vec<String>)>);

impl Found {
    fn of(show: impl Fn(&Query) -> Vec<String>) -> Self {
        Self(queries().into_iter().map(|query| (show(&query), query)).map(|(shown, query)| (query, shown)).collect())
    }

    /// Returns how many queries found their tool among the first `count` results.
    fn within(&self, shown: usize) -> usize {
        self.0.iter().filter(|(query, found)| query.is_answered(found, shown)).count()
    }

    fn print(&self, name: &str) {
        let recall = |shown| self.within(shown) as f64 / self.0.len() as f64;
        let [first, few, most] = [1, FEW, SHOWN_MAX].map(recall);
        println!("{name}: recall at 1 is {first:.2}, at {FEW} {few:.2}, at {SHOWN_MAX} {most:.2}");
        for part in PARTS {
            let all = || self.0.iter().filter(|(query, _)| query.part == part);
            let answered = all().filter(|(query, found)| query.is_answered(found, FEW)).count();
            println!("{name}: {answered} of {} {part}", all().count());
        }
    }

    /// Returns the queries whose tool was not among the first few, with their results.
    fn missed(&self) -> String {
        let missed = self.0.iter().filter(|(query, found)| !query.is_answered(found, FEW));
        let tell = |(query, found): &(Query, Vec<String>)| {
            format!("{}\n    wanted {}\n    found  {}\n", query.text, query.tools.join(" or "), found.join(" "))
        };
        missed.map(tell).collect()
    }
}
