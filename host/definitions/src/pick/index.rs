//! The index of a catalog: for every term, the tools that contain it and its weight for each. The measure is BM25F: the
//! weight of a term depends on its field, and decreases with the length of the field, with each repetition, and with
//! the number of tools that contain it.

use super::lexicon::{Lexicon, Term};

/// The fields of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    Name,
    Title,
    Lead,
    Description,
    Plugin,
    PluginDescription,
    Parameter,
    ParameterDescription,
    Value,
    Nested,
}

/// The number of fields.
pub(super) const FIELDS: usize = Field::Nested as usize + 1;

/// For each field, the weight of its terms, and how much the weight decreases if the field is longer than usual: from 0
/// (not at all) to 1 (proportionally).
const WEIGHTS: [(f32, f32); FIELDS] = [
    (5.0, 0.6), // Name
    (4.0, 0.6), // Title
    (3.0, 0.5), // Lead
    (1.0, 0.7), // Description
    (2.0, 0.3), // Plugin
    (0.6, 0.5), // PluginDescription
    (0.8, 0.7), // Parameter
    (0.4, 0.8), // ParameterDescription
    (0.2, 0.8), // Value
    (0.1, 0.9), // Nested
];

/// How quickly the weight of a repeated term saturates.
const SATURATION: f32 = 3.0;

/// The occurrence of a term in one tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    /// The index of the tool.
    pub(super) tool: u32,
    /// The weight of the term there, from 0 to 1.
    pub(super) weight: f32,
    /// Whether the term is in the tool's name.
    pub(super) named: bool,
}

/// A term that at least one tool contains.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) term: String,
    /// The tools that contain it, in order.
    pub(super) postings: Vec<Posting>,
}

/// The terms of a set of tools.
#[derive(Debug)]
pub struct Index {
    /// The weight of each tool's name: the sum of the rarity of its terms.
    names: Vec<f32>,
    /// The terms, sorted by bytes, so that those with the same prefix are adjacent.
    known: Vec<Known>,
}

impl Index {
    /// Creates the index of some tools. Reads their fields one after the other.
    pub(super) fn new<T>(tools: &[T], fields: impl Fn(&T, &mut Lexicon) -> [Vec<Term>; FIELDS]) -> Self {
        let mut lexicon = Lexicon::default();
        let mut counted = TermCounts::default();
        for tool in tools {
            let fields = fields(tool, &mut lexicon);
            counted.put(&fields, lexicon.len());
        }
        let usual = counted.usual_lengths();
        let TermCounts { mut uses, lengths } = counted;
        let known = lexicon.into_sorted().into_iter().map(|(term, number)| {
            let uses = uses.get_mut(number as usize).map(std::mem::take).unwrap_or_default();
            Known { term, postings: postings(&uses, &lengths, &usual) }
        });
        let mut index = Self { names: vec![0.0; lengths.len()], known: known.collect() };
        index.weigh_names();
        index
    }

    fn weigh_names(&mut self) {
        for known in &self.known {
            let rarity = self.rarity(known.postings.len());
            for posting in known.postings.iter().filter(|posting| posting.named) {
                if let Some(name) = self.names.get_mut(posting.tool as usize) {
                    *name += rarity;
                }
            }
        }
    }

    /// Returns the weight of each tool's name.
    pub(super) fn names(&self) -> &[f32] {
        &self.names
    }

    /// A term.
    pub(super) fn find(&self, term: &str) -> Option<&Known> {
        let place = self.known.binary_search_by(|known| known.term.as_str().cmp(term)).ok()?;
        self.known.get(place)
    }

    /// Returns the terms with this prefix, in order.
    pub(super) fn beginning(&self, start: &str) -> impl Iterator<Item = &Known> {
        let first = self.known.partition_point(|known| known.term.as_str() < start);
        self.known[first..].iter().take_while(move |known| known.term.starts_with(start))
    }

    /// Returns the rarity of a term that this many tools contain.
    #[expect(clippy::cast_precision_loss, reason = "a measure, of numbers far below 2^24")]
    pub(super) fn rarity(&self, having: usize) -> f32 {
        let (tools, having) = (self.names.len() as f32, having as f32);
        // This is the inverse document frequency of BM25, in the form that is never negative.
        ((tools - having + 0.5).max(0.0) / (having + 0.5)).ln_1p()
    }
}

/// The number of occurrences of each term in each tool.
#[derive(Default)]
struct TermCounts {
    /// The uses, by term number, and then in the order of the tools.
    uses: Vec<Vec<TermUse>>,
    lengths: Vec<[usize; FIELDS]>,
}

/// The number of occurrences of a term in one tool, by field.
struct TermUse {
    tool: u32,
    times: [u16; FIELDS],
}

impl TermCounts {
    /// Counts the fields of the next tool. `terms` is the number of known terms.
    fn put(&mut self, fields: &[Vec<Term>; FIELDS], terms: usize) {
        // More tools than this do not fit in memory.
        let Ok(tool) = u32::try_from(self.lengths.len()) else { return };
        self.lengths.push(std::array::from_fn(|field| fields[field].len()));
        self.uses.resize_with(terms, Vec::new);
        for (field, terms) in fields.iter().enumerate() {
            for term in terms {
                let Some(uses) = self.uses.get_mut(*term as usize) else { continue };
                // The tools come one after the other, so only the last use can be of this tool.
                if uses.last().is_none_or(|last| last.tool != tool) {
                    uses.push(TermUse { tool, times: [0; FIELDS] });
                }
                if let Some(last) = uses.last_mut() {
                    last.times[field] = last.times[field].saturating_add(1);
                }
            }
        }
    }

    /// Returns the average length of each field, over the tools that have it.
    #[expect(clippy::cast_precision_loss, reason = "a measure, of numbers far below 2^24")]
    fn usual_lengths(&self) -> [f32; FIELDS] {
        std::array::from_fn(|field| {
            let lengths = self.lengths.iter().map(|lengths| lengths[field]).filter(|length| *length > 0);
            let (count, sum) = lengths.fold((0_usize, 0_usize), |(count, sum), length| (count + 1, sum + length));
            sum as f32 / count.max(1) as f32
        })
    }
}

fn postings(uses: &[TermUse], lengths: &[[usize; FIELDS]], usual: &[f32; FIELDS]) -> Vec<Posting> {
    let posting = |used: &TermUse| {
        let lengths = lengths.get(used.tool as usize)?;
        let counts: f32 = (0..FIELDS).map(|field| counts(used.times[field], lengths[field], usual[field], field)).sum();
        let named = used.times[Field::Name as usize] > 0;
        Some(Posting { tool: used.tool, weight: counts / (SATURATION + counts), named })
    };
    uses.iter().filter_map(posting).collect()
}

/// Returns the weight of a term that occurs this many times in a field of this length.
#[expect(clippy::cast_precision_loss, reason = "a measure, of numbers far below 2^24")]
fn counts(times: u16, length: usize, usual: f32, field: usize) -> f32 {
    let (weight, shortening) = WEIGHTS[field];
    if times == 0 {
        return 0.0;
    }
    weight * f32::from(times) / (1.0 - shortening + shortening * length as f32 / usual)
}
