//! Patterns over text that is divided by `/`: the one pattern language of policies.
//!
//! | pattern | matches |
//! |---|---|
//! | `?` | one character, never `/` |
//! | `*` | any run of characters within a segment, also none |
//! | `**` | any number of whole segments, also none; it stands alone between slashes |
//! | `[abc]`, `[a-z]`, `[!a-z]` | one character that is, or is not, in the class; never `/` |
//! | `{a,b}` | either text; choices nest |
//! | `\x` | the character `x` itself |
//!
//! Everything else matches itself, and a pattern matches the whole text. A pattern that could not mean what its author
//! thinks (see [`GlobError`]) is refused. Matching takes at most as many steps as the text and the pattern have
//! characters, multiplied: there is no text that makes it exponential.
//!
//! It must not know of paths, tools or rules.

mod advance;
mod error;
mod segment;
mod syntax;

use std::fmt;

pub(crate) use advance::{NextName, Position};
pub use error::{EXPANDED_TOKENS, GlobError, PATTERN_CHARACTERS};
pub(crate) use segment::Case;
use segment::Segment;

/// A pattern that was read and found sound.
#[derive(Clone, PartialEq, Eq)]
pub struct Glob {
    text: Box<str>,
    choices: Vec<Vec<Segment>>,
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// When the pattern is empty, too long, or not in the language described above.
    pub fn new(text: &str) -> Result<Self, GlobError> {
        let choices = syntax::read(text)?;
        let choices = choices.iter().map(|tokens| segment::split(tokens, &['/'])).collect::<Result<_, _>>()?;
        Ok(Self { text: text.into(), choices })
    }

    /// Reads a pattern as the pattern of a normalized path: both slashes divide, and segments that are empty or `.`
    /// are left out.
    pub(crate) fn of_normalized_path(text: &str) -> Result<Self, GlobError> {
        let mut choices = Vec::new();
        for tokens in syntax::read(text)? {
            let mut segments = segment::split(&tokens, &['/', '\\'])?;
            segments.retain(|segment| !segment.is_literally("") && !segment.is_literally("."));
            choices.push(segments);
        }
        Ok(Self { text: text.into(), choices })
    }

    /// The pattern that only `text` matches, as long as it is short enough and holds no control character.
    #[must_use]
    pub fn escape(text: &str) -> String {
        let mut pattern = String::with_capacity(text.len());
        for character in text.chars() {
            if matches!(character, '\\' | '*' | '?' | '[' | ']' | '{' | '}') {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        pattern
    }

    /// Whether the whole of `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matches_in(text, Case::Exact)
    }

    /// Whether the whole of `text` matches, with or without regard to case.
    pub(crate) fn matches_in(&self, text: &str, case: Case) -> bool {
        self.choices.iter().any(|pattern| segment::all_match(pattern, Some(text), case))
    }

    /// Whether a normalized path matches; the empty path has no segment at all.
    pub(crate) fn matches_normalized_path(&self, path: &str, case: Case) -> bool {
        let path = if path.is_empty() { None } else { Some(path) };
        self.choices.iter().any(|pattern| segment::all_match(pattern, path, case))
    }

    /// Whether some choice has a segment that is exactly `name`.
    pub(crate) fn has_segment(&self, name: &str) -> bool {
        self.choices.iter().flatten().any(|segment| segment.is_literally(name))
    }

    /// Whether the pattern stands for one directory and all that is in it: literal segments, and `**` after them.
    pub(crate) fn is_directory(&self) -> bool {
        match self.choices.as_slice() {
            [choice] => match choice.as_slice() {
                [directory @ .., Segment::Deep] => {
                    !directory.is_empty()
                        && directory.iter().all(|segment| segment.literal().is_some_and(|name| !name.is_empty()))
                }
                [] | [..] => false,
            },
            [] | [_, ..] => false,
        }
    }

    /// Whether both patterns match the same way, however they are spelt.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.choices == other.choices
    }

    /// The choices of a pattern of one segment: its text where the choice is literal, none where it is a pattern.
    pub(crate) fn single_segments(&self) -> impl Iterator<Item = Option<&str>> {
        self.choices.iter().map(|segments| match segments.as_slice() {
            [segment] => segment.literal(),
            [] | [_, ..] => None,
        })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Glob({:?})", self.text)
    }
}
