//! Matches a pattern name by name, for code that walks through a tree instead of matching a whole text.
//!
//! It must not know what the names are, or what a match means.

use super::segment::Segment;
use super::{Glob, GlobError, LetterCase, segment, syntax};

/// A position in one alternative of a pattern: how many segments have matched. A pattern has at most
/// [`super::EXPANDED_TOKENS`] segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    choice: usize,
    segment: usize,
}

/// The next name on a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NextName<'a> {
    /// This name, in each of its spellings.
    Spelt(&'a [&'a str]),
    /// A name that only `*` and `**` match.
    Unspelt,
}

impl Glob {
    /// Parses a pattern for places in a tree. It starts at the root of the tree. A pattern without a slash, except one
    /// at its end, matches in every directory. Segments that are empty or `.` are ignored.
    pub(crate) fn of_place(text: &str) -> Result<Self, GlobError> {
        let mut choices = Vec::new();
        for tokens in syntax::read(text)? {
            let mut segments = segment::split(&tokens, &['/'])?;
            // Before `retain` drops the empty segment in front of the first slash.
            let is_rooted = segments.first().is_some_and(|first| first.is_literally(""));
            segments.retain(|segment| !segment.is_literally("") && !segment.is_literally("."));
            if segments.len() == 1 && !is_rooted {
                segments.insert(0, Segment::Deep);
            }
            choices.push(segments);
        }
        Ok(Self { text: text.into(), choices })
    }

    /// Adds the positions before the first name to `reached`. Returns whether the pattern matches the root itself.
    pub(crate) fn start(&self, reached: &mut impl FnMut(Position)) -> bool {
        let mut is_matched = false;
        for choice in 0..self.choices.len() {
            // Not `||`, because every choice must add its positions.
            is_matched |= self.reach(Position { choice, segment: 0 }, reached);
        }
        is_matched
    }

    /// Adds the positions after one more name to `reached`. Returns whether the whole pattern has matched.
    pub(crate) fn advance(&self, from: Position, name: NextName<'_>, reached: &mut impl FnMut(Position)) -> bool {
        let next = Position { segment: from.segment + 1, ..from };
        match (self.choices.get(from.choice).and_then(|choice| choice.get(from.segment)), name) {
            (None, _) => false,
            // The later positions were reached together with this one, and advance by themselves.
            (Some(Segment::Deep), _) => {
                reached(from);
                self.reach_behind(from, reached)
            }
            (Some(Segment::Whole), _) => self.reach(next, reached),
            (Some(segment), NextName::Spelt(spellings)) => {
                spellings.iter().any(|name| segment.accepts(name, LetterCase::Folded)) && self.reach(next, reached)
            }
            (Some(Segment::Literal(_) | Segment::Tokens(_)), NextName::Unspelt) => false,
        }
    }

    /// Adds a position, and the later ones that need no name. Returns whether the end of the pattern was reached.
    fn reach(&self, at: Position, reached: &mut impl FnMut(Position)) -> bool {
        let Some(choice) = self.choices.get(at.choice) else { return false };
        if at.segment >= choice.len() {
            return true;
        }
        reached(at);
        choice.get(at.segment) == Some(&Segment::Deep) && self.reach_behind(at, reached)
    }

    fn reach_behind(&self, at: Position, reached: &mut impl FnMut(Position)) -> bool {
        self.reach(Position { segment: at.segment + 1, ..at }, reached)
    }
}
