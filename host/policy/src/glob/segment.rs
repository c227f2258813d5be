//! Matches segments against segments, and tokens against characters.
//!
//! Both levels use the same algorithm. The part after the last wildcard is tried as far left as possible, and a
//! mismatch moves it one to the right. An earlier wildcard never needs another attempt, which bounds the work. This
//! file must not know how a pattern is spelled.

use super::error::GlobError;

/// How letters that differ only in case are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LetterCase {
    /// They differ.
    Exact,
    /// They are equal. Everything that matches exactly also matches this way.
    Folded,
}

/// One element of a pattern within a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SegmentToken {
    /// This character.
    Literal(char),
    /// `?`: one character.
    One,
    /// `*`: any characters, or none.
    Run,
    /// `**`: any number of segments. [`split`] refuses it next to other tokens.
    Deep,
    /// One character of a class.
    Class(Box<Class>),
}

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) negated: bool,
    pub(super) ranges: Vec<(char, char)>,
}

impl Class {
    fn contains(&self, character: char) -> bool {
        let listed = self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&character));
        listed != self.negated
    }
}

impl SegmentToken {
    /// Returns whether the token matches this one character.
    fn accepts(&self, character: char, case: LetterCase) -> bool {
        match (self, case) {
            (Self::One, _) => true,
            (Self::Literal(literal), LetterCase::Exact) => *literal == character,
            (Self::Literal(literal), LetterCase::Folded) => *literal == character || fold(*literal) == fold(character),
            (Self::Class(class), LetterCase::Exact) => class.contains(character),
            (Self::Class(class), LetterCase::Folded) => {
                // A negated class matches a letter if either case is outside of it. That is the wider reading.
                class.contains(character) || class.contains(lower(character)) || class.contains(upper(character))
            }
            (Self::Run | Self::Deep, _) => false,
        }
    }
}

/// Returns the lower-case form if it is one character, and otherwise the character itself.
fn lower(character: char) -> char {
    let mut forms = character.to_lowercase();
    match (forms.next(), forms.next()) {
        (Some(form), None) => form,
        (_, _) => character,
    }
}

/// Returns the upper-case form if it is one character, and otherwise the character itself.
fn upper(character: char) -> char {
    let mut forms = character.to_uppercase();
    match (forms.next(), forms.next()) {
        (Some(form), None) => form,
        (_, _) => character,
    }
}

/// Returns one form for all cases of a letter. It goes through the upper case, because only there are `ſ` and `s`, and
/// `K` (Kelvin) and `k`, the same.
fn fold(character: char) -> char {
    if character.is_ascii() { character.to_ascii_lowercase() } else { lower(upper(lower(character))) }
}

/// The part of a pattern between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// `**`: any number of segments.
    Deep,
    /// `*`: any one segment.
    Whole,
    /// Exactly this segment.
    Literal(Box<str>),
    /// A segment that matches these tokens.
    Tokens(Box<[SegmentToken]>),
}

impl Segment {
    fn new(tokens: Vec<SegmentToken>) -> Result<Self, GlobError> {
        match tokens.as_slice() {
            [SegmentToken::Deep] => return Ok(Self::Deep),
            [SegmentToken::Run] => return Ok(Self::Whole),
            tokens if tokens.contains(&SegmentToken::Deep) => return Err(GlobError::DeepBesideText),
            _literal_or_mixed => {}
        }
        let literal = tokens.iter().map(|token| match token {
            SegmentToken::Literal(character) => Some(*character),
            SegmentToken::One | SegmentToken::Run | SegmentToken::Deep | SegmentToken::Class(_) => None,
        });
        match literal.collect::<Option<String>>() {
            Some(literal) => Ok(Self::Literal(literal.into())),
            None => Ok(Self::Tokens(tokens.into())),
        }
    }

    /// Returns the segment's text if it matches only one text.
    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Deep | Self::Whole | Self::Tokens(_) => None,
        }
    }

    /// Returns whether the segment is exactly `name`.
    pub(super) fn is_literally(&self, name: &str) -> bool {
        self.literal() == Some(name)
    }

    /// Returns whether the segment matches this one segment of a text.
    pub(super) fn accepts(&self, text: &str, case: LetterCase) -> bool {
        match (self, case) {
            (Self::Deep, _) => false,
            (Self::Whole, _) => true,
            (Self::Literal(literal), LetterCase::Exact) => literal.as_ref() == text,
            (Self::Literal(literal), LetterCase::Folded) if text.is_ascii() && literal.is_ascii() => {
                literal.eq_ignore_ascii_case(text)
            }
            (Self::Literal(literal), LetterCase::Folded) => literal.chars().map(fold).eq(text.chars().map(fold)),
            (Self::Tokens(tokens), _) => tokens_match(tokens, text, case),
        }
    }
}

/// Splits tokens at the separators.
pub(super) fn split(tokens: &[SegmentToken], separators: &[char]) -> Result<Vec<Segment>, GlobError> {
    let divides =
        |token: &SegmentToken| matches!(token, SegmentToken::Literal(character) if separators.contains(character));
    // Only a literal can be a separator. The parser refuses a slash in a class, and no other token matches one.
    tokens.split(divides).map(|part| Segment::new(part.to_vec())).collect()
}

/// Returns whether the segments of `text` match the pattern. `None` is a text without segments.
pub(super) fn all_match(pattern: &[Segment], text: Option<&str>, case: LetterCase) -> bool {
    let mut position = 0;
    let mut rest = text;
    let mut retry: Option<(usize, Option<&str>)> = None;
    loop {
        match (pattern.get(position), rest) {
            (None, None) => return true,
            (Some(Segment::Deep), _) => {
                position += 1;
                retry = Some((position, rest));
                continue;
            }
            (Some(segment), Some(text)) => {
                let (first, after) = next_segment(text);
                if segment.accepts(first, case) {
                    position += 1;
                    rest = after;
                    continue;
                }
            }
            // The rest of the pattern needs text, and every other attempt has less text left.
            (Some(_), None) => return false,
            // Text is left over, so the last `**` has to take more of it.
            (None, Some(_)) => {}
        }
        let Some((after_deep, Some(skipped))) = retry else { return false };
        position = after_deep;
        rest = next_segment(skipped).1;
        retry = Some((position, rest));
    }
}

/// Returns the first segment and the text after its slash.
fn next_segment(text: &str) -> (&str, Option<&str>) {
    match text.split_once('/') {
        Some((first, after)) => (first, Some(after)),
        None => (text, None),
    }
}

/// Returns whether the characters of one segment match the tokens.
fn tokens_match(tokens: &[SegmentToken], text: &str, case: LetterCase) -> bool {
    let mut position = 0;
    let mut rest = text.chars();
    let mut retry = None;
    loop {
        let here = rest.clone();
        match (tokens.get(position), rest.next()) {
            (None, None) => return true,
            (Some(SegmentToken::Run), _) => {
                position += 1;
                rest = here.clone();
                retry = Some((position, here));
                continue;
            }
            (Some(token), Some(character)) => {
                if token.accepts(character, case) {
                    position += 1;
                    continue;
                }
            }
            // As in `all_match`: every other attempt has less text left.
            (Some(_), None) => return false,
            (None, Some(_)) => {}
        }
        let Some((after_run, mut skipped)) = retry else { return false };
        if skipped.next().is_none() {
            return false;
        }
        position = after_run;
        rest = skipped.clone();
        retry = Some((position, skipped));
    }
}
