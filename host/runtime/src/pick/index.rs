//! What is known of the tools of a catalog before anybody asks: for every term the tools that have it, and how much it
//! says about each. The measure is BM25F: a term counts by the field it stands in, less in a long field than in a short
//! one, less each time it is repeated, and less the more tools have it.

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

/// How many fields there are.
pub(super) const FIELDS: usize = Field::Nested as usize + 1;

/// How much a term counts by its field, and how much less where the field is longer than it mostly is: 0 not at all, 1
/// in proportion. In the order of the fields.
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

/// How soon a term that is repeated counts no more.
const SATURATION: f32 = 3.0;

/// What a term says of one tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    /// The tool, by its place.
    pub(super) tool: u32,
    /// How much the term counts there: from 0 to 1.
    pub(super) weight: f32,
    /// Whether it stands in the tool's name.
    pub(super) named: bool,
}

/// A term that some tool has.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) term: String,
    /// The tools that have it, in their order.
    pub(super) postings: Vec<Posting>,
}

/// The terms of a set of tools.
#[derive(Debug)]
pub(crate) struct Index {
    /// How much the name of each tool says: the rarity of its terms together.
    names: Vec<f32>,
    /// In the order of their bytes, so that those which begin alike stand together.
    known: Vec<Known>,
}

impl Index {
    /// Of tools, whose fields are read one after the other.
    pub(super) fn new<T>(tools: &[T], fields: impl Fn(&T, &mut Lexicon) -> [Vec<Term>; FIELDS]) -> Self {
        let mut lexicon = Lexicon::default();
        let mut counted = Counted::default();
        for tool in tools {
            let fields = fields(tool, &mut lexicon);
            counted.put(&fields, lexicon.len());
        }
        let usual = counted.usual_lengths();
        let Counted { mut uses, lengths } = counted;
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

    /// How much the name of each tool says.
    pub(super) fn names(&self) -> &[f32] {
        &self.names
    }

    /// A term.
    pub(super) fn find(&self, term: &str) -> Option<&Known> {
        let place = self.known.binary_search_by(|known| known.term.as_str().cmp(term)).ok()?;
        self.known.get(place)
    }

    /// The terms that begin so, in order.
    pub(super) fn beginning(&self, start: &str) -> impl Iterator<Item = &Known> {
        let first = self.known.partition_point(|known| known.term.as_str() < start);
        self.known[first..].iter().take_while(move |known| known.term.starts_with(start))
    }

    /// How much it says that a tool has a term which so many have.
    #[expect(clippy::cast_precision_loss, reason = "a measure, of numbers far below 2^24")]
    pub(super) fn rarity(&self, having: usize) -> f32 {
        let (tools, having) = (self.names.len() as f32, having as f32);
        ((tools - having + 0.5).max(0.0) / (having + 0.5)).ln_1p()
    }
}

/// How often each tool has each term.
#[derive(Default)]
struct Counted {
    /// By the number of the term, and then in the order of the tools.
    uses: Vec<Vec<Use>>,
    lengths: Vec<[usize; FIELDS]>,
}

/// How often one tool has a term, by field.
struct Use {
    tool: u32,
    times: [u16; FIELDS],
}

impl Counted {
    /// Counts the fields of the next tool; so many terms are known by now.
    fn put(&mut self, fields: &[Vec<Term>; FIELDS], terms: usize) {
        // More tools than that are in no memory.
        let Ok(tool) = u32::try_from(self.lengths.len()) else { return };
        self.lengths.push(std::array::from_fn(|field| fields[field].len()));
        self.uses.resize_with(terms, Vec::new);
        for (field, terms) in fields.iter().enumerate() {
            for term in terms {
                let Some(uses) = self.uses.get_mut(*term as usize) else { continue };
                if uses.last().is_none_or(|last| last.tool != tool) {
                    uses.push(Use { tool, times: [0; FIELDS] });
                }
                if let Some(last) = uses.last_mut() {
                    last.times[field] = last.times[field].saturating_add(1);
                }
            }
        }
    }

    /// How long each field is where there is one.
    #[expect(clippy::cast_precision_loss, reason = "a measure, of numbers far below 2^24")]
    fn usual_lengths(&self) -> [f32; FIELDS] {
        std::array::from_fn(|field| {
            let lengths = self.lengths.iter().map(|lengths| lengths[field]).filter(|length| *length > 0);
            let (count, sum) = lengths.fold((0_usize, 0_usize), |(count, sum), length| (count + 1, sum + length));
            sum as f32 / count.max(1) as f32
        })
    }
}

fn postings(uses: &[Use], lengths: &[[usize; FIELDS]], usual: &[f32; FIELDS]) -> Vec<Posting> {
    let posting = |used: &Use| {
        let lengths = lengths.get(used.tool as usize)?;
        let counts: f32 = (0..FIELDS).map(|field| counts(used.times[field], lengths[field], usual[field], field)).sum();
        let named = used.times[Field::Name as usize] > 0;
        Some(Posting { tool: used.tool, weight: counts / (SATURATION + counts), named })
    };
    uses.iter().filter_map(posting).collect()
}

/// How much it counts that a field of this length has a term so many times.
#[expect(clippy::cast_precision_loss, reason = "a measure, of numbers far below 2^24")]
fn counts(times: u16, length: usize, usual: f32, field: usize) -> f32 {
    let (weight, shortening) = WEIGHTS[field];
    if times == 0 {
        return 0.0;
    }
    weight * f32::from(times) / (1.0 - shortening + shortening * length as f32 / usual)
}
