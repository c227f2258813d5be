//! Turns a query into terms to look up in an index, and scores how well each tool fits it.

use super::index::{Index, Known};
use super::nouns;
use super::phrases;
use super::stem::stem;
use super::terms;
use super::verbs;
use std::collections::BTreeMap;

/// Maximum length of a query, in bytes. It is enough for a sentence or two. The rest is ignored.
const QUERY_BYTES_MAX: usize = 2048;

/// Maximum terms of a query.
const QUERY_TERMS_MAX: usize = 64;

/// Weight of a related verb.
const ALIKE: f32 = 0.6;

/// Weight of a verb with the same meaning.
const NEAR: f32 = 0.8;

/// Weight of a verb that is related to one of the verbs of a phrasal verb.
const PHRASE_ALIKE: f32 = 0.4;

/// Weight of a synonym of a noun.
const NOUN: f32 = 0.6;

/// Weight of a term that is a prefix of the used one, or has it as a prefix.
const BEGINNING: f32 = 0.5;

/// Minimum length of a prefix, in bytes.
const BEGINNING_BYTES_MIN: usize = 4;

/// Maximum terms with the same prefix. A prefix of more terms is ignored.
const BEGINNING_TERMS_MAX: usize = 16;

/// Weight of two words that a tool has as one word, in addition to the weight of each.
const JOINED: f32 = 0.5;

/// Minimum length of a part of a compound word, in bytes.
const HALF_BYTES_MIN: usize = 3;

/// Weight of the share of the query's parts that a tool contains, relative to how well it fits each part.
const SHARE: f32 = 1.0;

/// Weight of the share of a tool's name that the query contains.
const NAME: f32 = 0.7;

/// Weight of a related verb outside of the tool's name, because a description has many verbs.
const VERB_ELSEWHERE: f32 = 0.3;

/// Minimum rarity of a verb. However common a verb is, it matters whether something is created or deleted.
const VERB_RARITY_MIN: f32 = 2.5;

/// Returns the indices and scores of the tools that fit a query, in no particular order.
pub(super) fn scores(index: &Index, query: &str) -> Vec<(usize, f32)> {
    let sought = sought(index, query);
    let whole: f32 = sought.iter().map(|part| part.rarity).sum();
    let mut scores = vec![Score::default(); index.names().len()];
    for (number, part) in (1_u32..).zip(&sought) {
        part.count(number, index, &mut scores);
    }
    let fitting = scores.into_iter().zip(index.names()).enumerate().filter(|(_, (score, _))| score.sum > 0.0);
    // A name of words without meaning weighs nothing, so the divisor has a minimum.
    let fit =
        |score: Score, name: f32| score.sum * (1.0 + SHARE * score.met / whole + NAME * score.named / name.max(0.1));
    fitting.map(|(tool, (score, name))| (tool, fit(score, *name))).collect()
}

/// The score of a tool.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    sum: f32,
    /// How well it fits the query's parts.
    met: f32,
    /// How much of its name the query contains.
    named: f32,
    /// The number of the part that was counted last.
    last: u32,
    /// The score for that part.
    counts: f32,
    /// How much of its name that part contains.
    explains: f32,
}

/// One part of a query: a term and its alternatives.
struct QueryPart<'a> {
    rarity: f32,
    is_verb: bool,
    ways: Vec<(&'a Known, f32)>,
}

impl<'a> QueryPart<'a> {
    /// Creates a part from a term without alternatives.
    fn of(index: &Index, known: &'a Known) -> Self {
        Self { rarity: index.rarity(known.postings.len()), is_verb: false, ways: vec![(known, 1.0)] }
    }

    /// Adds the score of this part to each tool: that of the best alternative that the tool contains.
    fn count(&self, number: u32, index: &Index, scores: &mut [Score]) {
        for (known, factor) in &self.ways {
            let rarity = factor * index.rarity(known.postings.len());
            for posting in &known.postings {
                let Some(score) = scores.get_mut(posting.tool as usize) else { continue };
                if score.last != number {
                    *score = Score { last: number, counts: 0.0, explains: 0.0, met: score.met + self.rarity, ..*score };
                }
                let stands_in = self.is_verb && *factor < 1.0;
                let place = if stands_in && !posting.named { VERB_ELSEWHERE } else { 1.0 };
                let counts = (factor * place * posting.weight).max(score.counts);
                let explains = if posting.named { rarity.max(score.explains) } else { score.explains };
                // Only the best alternative of a part counts, so replace what a worse one has added.
                score.sum += (counts - score.counts) * self.rarity;
                score.named += explains - score.explains;
                (score.counts, score.explains) = (counts, explains);
            }
        }
    }
}

fn sought<'a>(index: &'a Index, query: &str) -> Vec<QueryPart<'a>> {
    let query = &query[..query.floor_char_boundary(QUERY_BYTES_MAX)];
    let (mut seen, mut words, mut sought) = (Vec::new(), Vec::new(), Vec::new());
    let all: Vec<String> = terms::runs(query).map(str::to_lowercase).collect();
    // The indices of words that belong to a phrasal verb before them.
    let mut taken = Vec::new();
    for (place, word) in terms::runs(query).enumerate() {
        let phrase = if taken.contains(&place) { None } else { phrases::at(&all, place) };
        if let Some(phrase) = phrase
            && let Some(part) = verbs_part(index, phrase.verbs)
        {
            taken.extend([place, phrase.with]);
            sought.push(part);
        }
        if taken.contains(&place) {
            words.push(word.to_lowercase());
            continue;
        }
        let terms: Vec<String> = terms::of_run(word).into_iter().filter(|term| !seen.contains(term)).collect();
        if seen.len() + terms.len() > QUERY_TERMS_MAX {
            break;
        }
        let parts: Vec<QueryPart<'_>> =
            terms.iter().map(|term| part(index, term)).filter(|part| !part.ways.is_empty()).collect();
        if parts.is_empty() && !terms.is_empty() {
            sought.extend(halves(index, &word.to_lowercase()));
        }
        sought.extend(parts);
        seen.extend(terms);
        words.push(word.to_lowercase());
    }
    // Two words may also be written as one: also look for `keypair` if the query has `key pair`.
    let joined = words.windows(2).filter_map(|pair| {
        let apart = pair.iter().all(|word| index.find(&stem(word)).is_some());
        Some((index.find(&stem(&pair.concat()))?, if apart { JOINED } else { 1.0 }))
    });
    sought.extend(joined.map(|way| QueryPart { ways: vec![way], ..QueryPart::of(index, way.0) }));
    sought
}

/// Splits a compound word that no tool contains into two words.
fn halves<'a>(index: &'a Index, word: &str) -> Vec<QueryPart<'a>> {
    let last = word.len().saturating_sub(HALF_BYTES_MIN);
    let halves = (HALF_BYTES_MIN..=last).filter_map(|at| {
        let (one, other) = word.split_at_checked(at)?;
        Some([index.find(&stem(one))?, index.find(&stem(other))?])
    });
    // Common words are more likely to be parts of compounds.
    let common = |halves: &[&Known; 2]| halves[0].postings.len().min(halves[1].postings.len());
    let halves = halves.max_by_key(common).into_iter().flatten();
    halves.map(|known| QueryPart::of(index, known)).collect()
}

/// The alternatives of a term, each with its maximum weight.
struct Ways<'a> {
    index: &'a Index,
    known: BTreeMap<&'a str, (&'a Known, f32)>,
}

impl<'a> Ways<'a> {
    fn new(index: &'a Index) -> Self {
        Self { index, known: BTreeMap::new() }
    }

    fn put(&mut self, known: &'a Known, factor: f32) {
        let way = self.known.entry(&known.term).or_insert((known, factor));
        way.1 = way.1.max(factor);
    }

    /// Adds those of these terms that at least one tool contains.
    fn put_all(&mut self, terms: &[String], factor: f32) {
        let index = self.index;
        terms.iter().filter_map(|term| index.find(term)).for_each(|known| self.put(known, factor));
    }

    fn into_vec(self) -> Vec<(&'a Known, f32)> {
        self.known.into_values().collect()
    }
}

/// The part that a verb of two words is: any of the verbs that it asks for.
fn verbs_part<'a>(index: &'a Index, asked: &[String]) -> Option<QueryPart<'a>> {
    let mut ways = Ways::new(index);
    ways.put_all(asked, 1.0);
    for verb in asked {
        ways.put_all(verbs::near(verb), NEAR);
        ways.put_all(verbs::alike(verb), PHRASE_ALIKE);
    }
    let ways = ways.into_vec();
    let having = ways.iter().map(|(known, _)| known.postings.len()).max()?;
    Some(QueryPart { rarity: index.rarity(having).max(VERB_RARITY_MIN), is_verb: true, ways })
}

fn part<'a>(index: &'a Index, term: &str) -> QueryPart<'a> {
    let mut ways = Ways::new(index);
    let own = index.find(term);
    own.into_iter().for_each(|known| ways.put(known, 1.0));
    let alike = verbs::alike(term);
    ways.put_all(alike, ALIKE);
    ways.put_all(verbs::near(term), NEAR);
    if alike.is_empty() {
        ways.put_all(nouns::alike(term), NOUN);
        if term.len() >= BEGINNING_BYTES_MIN {
            beginning(index, term, &mut |known, factor| ways.put(known, factor));
        }
    }
    let ways = ways.into_vec();
    // A verb is as common as all that stand for it.
    let having = match (own, alike) {
        (Some(known), []) => known.postings.len(),
        _ => ways.iter().map(|(known, _)| known.postings.len()).max().unwrap_or_default(),
    };
    let (is_verb, rarity) = (!alike.is_empty(), index.rarity(having));
    QueryPart { rarity: if is_verb { rarity.max(VERB_RARITY_MIN) } else { rarity }, is_verb, ways }
}

/// Terms that begin as this one, and those that it begins with.
fn beginning<'a>(index: &'a Index, term: &str, put: &mut impl FnMut(&'a Known, f32)) {
    #[expect(clippy::cast_precision_loss, reason = "a share of two short lengths")]
    let share = |short: usize, long: usize| BEGINNING * short as f32 / long as f32;
    if index.beginning(term).nth(BEGINNING_TERMS_MAX).is_none() {
        index.beginning(term).for_each(|known| put(known, share(term.len(), known.term.len())));
    }
    for end in (BEGINNING_BYTES_MIN..term.len()).filter(|end| term.is_char_boundary(*end)) {
        index.find(&term[..end]).into_iter().for_each(|known| put(known, share(end, term.len())));
    }
}
