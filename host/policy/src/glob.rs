//! Patterns for text with `/` as separator: the only pattern language of policies.
//!
//! | pattern | matches |
//! |---|---|
//! | `?` | one character, never `/` |
//! | `*` | any characters within a segment, or none |
//! | `**` | any number of whole segments, or none; it must be a whole segment itself |
//! | `[abc]`, `[a-z]`, `[!a-z]` | one character that is, or is not, in the class; never `/` |
//! | `{a,b}` | either text; choices can be nested |
//! | `\x` | the character `x` itself |
//!
//! Everything else matches itself, and a pattern matches the whole text. A pattern whose meaning could differ from its
//! author's intent (see [`GlobError`]) is an error. Matching takes at most the product of the lengths of text and
//! pattern as steps. No text makes it exponential.
//!
//! This module must not know paths, tools or rules.

mod advance;
mod error;
mod segment;
mod syntax;

use std::fmt;

pub(crate) use advance::{NextName, Position};
pub use error::{EXPANDED_TOKENS, GlobError, PATTERN_CHARACTERS};
pub(crate) use segment::LetterCase;
use segment::Segment;

/// A parsed pattern.
#[derive(Clone, PartialEq, Eq)]
pub struct Glob {
    text: Box<str>,
    choices: Vec<Vec<Segment>>,
}

impl Glob {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// The pattern is empty, too long, or malformed.
    pub fn new(text: &str) -> Result<Self, GlobError> {
        let choices = syntax::read(text)?;
        let choices = choices.iter().map(|tokens| segment::split(tokens, &['/'])).collect::<Result<_, _>>()?;
        Ok(Self { text: text.into(), choices })
    }

    /// Parses a pattern for normalized paths. Both slashes are separators, and empty and `.` segments are removed.
    pub(crate) fn of_normalized_path(text: &str) -> Result<Self, GlobError> {
        let mut choices = Vec::new();
        for tokens in syntax::read(text)? {
            let mut segments = segment::split(&tokens, &['/', '\\'])?;
            segments.retain(|segment| !segment.is_literally("") && !segment.is_literally("."));
            choices.push(segments);
        }
        Ok(Self { text: text.into(), choices })
    }

    /// Returns a pattern that matches only `text`, if the text is short enough and has no control character.
    #[must_use]
    pub fn escape(text: &str) -> String {
        let mut pattern = String::with_capacity(text.len());
        for character in text.chars() {
            // A comma, `!` and `-` need no escape: outside of braces and classes, they stand for themselves.
            if matches!(character, '\\' | '*' | '?' | '[' | ']' | '{' | '}') {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        pattern
    }

    /// Returns whether the whole `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matches_in(text, LetterCase::Exact)
    }

    /// Returns whether the whole `text` matches, with this comparison of case.
    pub(crate) fn matches_in(&self, text: &str, case: LetterCase) -> bool {
        self.choices.iter().any(|pattern| segment::all_match(pattern, Some(text), case))
    }

    /// Returns whether a normalized path matches. The empty path has no segments.
    pub(crate) fn matches_normalized_path(&self, path: &str, case: LetterCase) -> bool {
        let path = if path.is_empty() { None } else { Some(path) };
        self.choices.iter().any(|pattern| segment::all_match(pattern, path, case))
    }

    /// Returns whether some choice has a segment that is exactly `name`.
    pub(crate) fn has_segment(&self, name: &str) -> bool {
        self.choices.iter().flatten().any(|segment| segment.is_literally(name))
    }

    /// Returns whether the pattern is one directory and everything in it: literal segments, and `**` after them.
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

    /// Returns whether both patterns are the same, regardless of their spelling.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.choices == other.choices
    }

    /// Returns the choices of a single-segment pattern: the text of a literal choice, or none for a choice with
    /// wildcards.
    pub(crate) fn single_segments(&self) -> impl Iterator<Item = Option<&str>> {
        self.choices.iter().map(|segments| match segments.as_slice() {
            [segment] => segment.literal(),
            [] | [_, ..] => None,
        })
    }

    /// Returns the pattern as it was written.
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
