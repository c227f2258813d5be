//! Parses a pattern into tokens, one list for each choice of its braces.
//!
//! This file must not know how tokens match.

use std::iter::Peekable;
use std::str::Chars;

use super::error::{EXPANDED_TOKENS, GlobError, PATTERN_CHARACTERS};
use super::segment::{Class, SegmentToken};

/// All expansions of a pattern's braces.
type Choices = Vec<Vec<SegmentToken>>;

/// Parses a pattern.
pub(super) fn read(text: &str) -> Result<Choices, GlobError> {
    // This limit also bounds the recursion into nested braces.
    if text.chars().nth(PATTERN_CHARACTERS).is_some() {
        return Err(GlobError::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(GlobError::ControlCharacter);
    }
    let mut reader = PatternReader { rest: text.chars().peekable() };
    let choices = reader.sequence()?;
    if reader.rest.next().is_some() {
        return Err(GlobError::Unopened);
    }
    if choices.iter().any(Vec::is_empty) {
        return Err(GlobError::Empty);
    }
    Ok(choices)
}

struct PatternReader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl PatternReader<'_> {
    /// Parses up to the end or an unescaped `}`, which stays in the input. Here a comma is an ordinary character.
    fn sequence(&mut self) -> Result<Choices, GlobError> {
        self.sequence_until(&['}'])
    }

    /// Parses up to the end or one of `ends`, which stays in the input.
    fn sequence_until(&mut self, ends: &[char]) -> Result<Choices, GlobError> {
        let mut choices = vec![Vec::new()];
        while let Some(character) = self.rest.next_if(|character| !ends.contains(character)) {
            let more = match character {
                '{' => self.braces()?,
                '[' => vec![vec![SegmentToken::Class(Box::new(self.class()?))]],
                ']' => return Err(GlobError::Unopened),
                '?' => vec![vec![SegmentToken::One]],
                '*' => vec![vec![self.stars()?]],
                '\\' => vec![vec![SegmentToken::Literal(self.rest.next().ok_or(GlobError::TrailingBackslash)?)]],
                literal => vec![vec![SegmentToken::Literal(literal)]],
            };
            choices = join(choices, &more)?;
        }
        Ok(choices)
    }

    /// Parses the choices of braces after the `{`.
    fn braces(&mut self) -> Result<Choices, GlobError> {
        let mut choices = self.sequence_until(&[',', '}'])?;
        let mut several = false;
        loop {
            match self.rest.next() {
                Some(',') => {
                    several = true;
                    choices.extend(self.sequence_until(&[',', '}'])?);
                }
                // `sequence_until` stops only at a comma, a closing brace or the end.
                Some(_closing) if several => return Ok(choices),
                Some(_closing) => return Err(GlobError::SingleChoice),
                None => return Err(GlobError::UnclosedBrace),
            }
        }
    }

    /// Parses the rest of `*` or `**` after the first star.
    fn stars(&mut self) -> Result<SegmentToken, GlobError> {
        let mut following = 0;
        while self.rest.next_if_eq(&'*').is_some() {
            following += 1;
        }
        match following {
            0 => Ok(SegmentToken::Run),
            1 => Ok(SegmentToken::Deep),
            _three_or_more => Err(GlobError::DeepBesideText),
        }
    }

    /// Parses a class after the `[`.
    fn class(&mut self) -> Result<Class, GlobError> {
        let negated = self.rest.next_if_eq(&'!').is_some();
        let mut ranges = Vec::new();
        if self.rest.peek() == Some(&'^') {
            return Err(GlobError::CaretInClass);
        }
        while self.rest.next_if_eq(&']').is_none() {
            ranges.push(self.range()?);
        }
        if ranges.is_empty() { Err(GlobError::EmptyClass) } else { Ok(Class { negated, ranges }) }
    }

    /// Parses one character or one range of a class. A `-` at either end of the class is a literal.
    fn range(&mut self) -> Result<(char, char), GlobError> {
        let first = self.class_character()?;
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') || matches!(ahead.peek(), Some(']') | None) {
            return Ok((first, first));
        }
        self.rest = ahead;
        let last = self.class_character()?;
        if first <= last { Ok((first, last)) } else { Err(GlobError::ReversedRange) }
    }

    fn class_character(&mut self) -> Result<char, GlobError> {
        let escaped = self.rest.next_if_eq(&'\\').is_some();
        match self.rest.next() {
            Some('/') => Err(GlobError::SlashInClass),
            // An unescaped `[` is usually meant as a class inside a class, which does not exist.
            Some('[') if !escaped => Err(GlobError::UnclosedClass),
            Some(character) => Ok(character),
            None => Err(GlobError::UnclosedClass),
        }
    }
}

/// Returns every choice of `heads` followed by every choice of `tails`.
fn join(mut heads: Choices, tails: &[Vec<SegmentToken>]) -> Result<Choices, GlobError> {
    let [tail] = tails else { return multiply(&heads, tails) };
    for head in &mut heads {
        head.extend_from_slice(tail);
    }
    let tokens: usize = heads.iter().map(|head| head.len().max(1)).sum();
    if tokens > EXPANDED_TOKENS { Err(GlobError::TooManyChoices) } else { Ok(heads) }
}

/// Does the same as [`join`] for several tails. It counts the tokens before it allocates.
fn multiply(heads: &[Vec<SegmentToken>], tails: &[Vec<SegmentToken>]) -> Result<Choices, GlobError> {
    // An empty choice counts as a token. Otherwise `{,}{,}{,}` would double the choices at no cost.
    let tokens: usize =
        heads.iter().flat_map(|head| tails.iter().map(move |tail| (head.len() + tail.len()).max(1))).sum();
    if tokens > EXPANDED_TOKENS {
        return Err(GlobError::TooManyChoices);
    }
    Ok(heads.iter().flat_map(|head| tails.iter().map(move |tail| [head.as_slice(), tail].concat())).collect())
}
