//! Patterns for one text: a pattern, a prefix, or an exact text. Each can be matched exactly or widely.
//!
//! All three become patterns, so there is only one way to match and to handle spellings. This file must not know where
//! in a call the text is.

use std::borrow::Cow;
use std::fmt;

use crate::glob::{Glob, GlobError, LetterCase};
use crate::lexical::{Normalized, Separators, is_plain, normalize};
use crate::plain::plain_form;

/// Maximum bytes of a text that a pattern is matched against: four times the longest path of common systems. The worst
/// pattern on the worst text then takes milliseconds.
pub const MATCHED_TEXT_BYTES: usize = 16 * 1024;

/// Why a literal text is invalid in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LiteralError {
    /// It is empty.
    #[error("the text is empty")]
    Empty,
    /// It is longer than a pattern may be.
    #[error("the text is longer than a pattern may be")]
    TooLong,
    /// It contains a control character.
    #[error("the text contains a control character")]
    ControlCharacter,
    /// An allow rule with it would never match.
    #[error("an allow rule never matches a text with a `.` or `..` segment or a backslash")]
    NotPlain,
}

impl LiteralError {
    /// Returns how to fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Empty => "write at least one character; the pattern \"**\" matches every text",
            Self::TooLong => "write a shorter prefix",
            Self::ControlCharacter => "write a pattern with `?` in its place",
            Self::NotPlain => "remove it",
        }
    }
}

/// A pattern for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPattern {
    kind: TextKind,
    text: Box<str>,
    written: GlobPair,
    /// The same patterns in their plain form, if it differs.
    plain: Option<Box<GlobPair>>,
}

/// Patterns for a text as it is, and for the path that it spells.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GlobPair {
    raw: Glob,
    /// The pattern for normalized paths, if it differs.
    normalized: Option<Glob>,
}

/// The form in the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Glob,
    Prefix,
    Equals,
}

impl TextPattern {
    /// Parses a pattern.
    pub(crate) fn new(text: &str) -> Result<Self, GlobError> {
        Self::of(TextKind::Glob, text, text, text)
    }

    /// Returns a pattern for exactly this text.
    pub(crate) fn equals(text: &str) -> Result<Self, LiteralError> {
        let escaped = Glob::escape(text);
        Self::literal(TextKind::Equals, text, &escaped, &escaped)
    }

    /// Returns a pattern for every text that starts with this one.
    pub(crate) fn prefix(text: &str) -> Result<Self, LiteralError> {
        let escaped = Glob::escape(text);
        // `*` completes the segment in which the text ends, and `**` matches the segments after it.
        let raw = format!("{escaped}*/**");
        // After normalization, the directory itself has no slash at its end.
        let directory = text.strip_suffix(['/', '\\']).map(|directory| format!("{}/**", Glob::escape(directory)));
        Self::literal(TextKind::Prefix, text, &raw, directory.as_deref().unwrap_or(&raw))
    }

    fn literal(kind: TextKind, text: &str, raw: &str, normalized: &str) -> Result<Self, LiteralError> {
        if text.is_empty() {
            return Err(LiteralError::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(LiteralError::ControlCharacter);
        }
        // The text is escaped, and was checked above, so only its length can be wrong.
        Self::of(kind, text, raw, normalized).map_err(|_| LiteralError::TooLong)
    }

    fn of(kind: TextKind, text: &str, raw: &str, normalized: &str) -> Result<Self, GlobError> {
        let written = GlobPair::new(raw, normalized)?;
        // A class such as `[Z-é]` may not be a range in its plain form. The pattern is then used as it was written.
        let plain = if raw.is_ascii() { None } else { GlobPair::new(&plain_form(raw), &plain_form(normalized)).ok() };
        Ok(Self { kind, text: text.into(), written, plain: plain.map(Box::new) })
    }

    /// Returns the text as the policy spells it.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text as a pattern of places below a directory, or none if it names another file system.
    pub(crate) fn place(&self) -> Option<String> {
        let text = self.text.strip_prefix("./").unwrap_or(&self.text);
        let is_below = !text.starts_with(['/', '\\', '~']);
        is_below.then(|| match self.kind {
            TextKind::Glob => text.to_owned(),
            TextKind::Equals => Glob::escape(text),
            TextKind::Prefix => match text.strip_suffix('/') {
                Some(directory) => format!("{}/**", Glob::escape(directory)),
                None => format!("{}*", Glob::escape(text)),
            },
        })
    }

    /// Returns whether some choice has a segment that is exactly `name`.
    pub(crate) fn has_segment(&self, name: &str) -> bool {
        self.written.raw.has_segment(name)
    }

    /// Returns whether exact matching can match a literal text at all.
    pub(crate) fn is_plain(&self) -> bool {
        // `literal` refuses control characters, and the parser of `when` refuses dot segments.
        self.kind == TextKind::Glob || !self.text.contains('\\')
    }

    pub(crate) fn matches_exactly(&self, text: &str) -> bool {
        text.len() <= MATCHED_TEXT_BYTES && is_plain(text) && self.written.raw.matches(text)
    }

    pub(crate) fn matches_widely(&self, spellings: &Spellings<'_>) -> bool {
        match spellings {
            Spellings::Unreadable => true,
            Spellings::Readable { written, plain } => {
                self.written.matches_widely(written)
                    || match (&self.plain, plain) {
                        (Some(pattern), plain) => pattern.matches_widely(plain.as_ref().unwrap_or(written)),
                        (None, Some(plain)) => self.written.matches_widely(plain),
                        (None, None) => false,
                    }
            }
        }
    }
}

impl GlobPair {
    fn new(raw: &str, normalized: &str) -> Result<Self, GlobError> {
        let raw = Glob::new(raw)?;
        let normalized = Glob::of_normalized_path(normalized)?;
        let normalized = if normalized.is_equivalent(&raw) { None } else { Some(normalized) };
        Ok(Self { raw, normalized })
    }

    fn matches_widely(&self, Spelling { raw, unix, windows }: &Spelling<'_>) -> bool {
        self.raw.matches_in(raw, LetterCase::Folded)
            || self.matches_path(unix, raw)
            || windows.as_ref().is_some_and(|path| self.matches_path(path, raw))
    }

    /// Returns whether a normalized path matches. If the path is the raw text, the raw pattern has been tried already.
    fn matches_path(&self, path: &str, raw: &str) -> bool {
        match &self.normalized {
            Some(pattern) => pattern.matches_normalized_path(path, LetterCase::Folded),
            None => path != raw && self.raw.matches_normalized_path(path, LetterCase::Folded),
        }
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_debug();
        match self.kind {
            TextKind::Glob => write!(formatter, "\"{text}\""),
            TextKind::Prefix => write!(formatter, "{{ prefix = \"{text}\" }}"),
            TextKind::Equals => write!(formatter, "{{ equals = \"{text}\" }}"),
        }
    }
}

/// The forms of a text that a restricting rule matches.
pub(crate) enum Spellings<'a> {
    /// Every pattern matches, because the text is too long, climbs above its root, or contains a NUL. Tools in C stop
    /// reading at a NUL, and others do not.
    Unreadable,
    /// The text as it is written, and in its plain form if that differs.
    Readable { written: Spelling<'a>, plain: Option<Spelling<'a>> },
}

/// A text, and the paths that it spells.
pub(crate) struct Spelling<'a> {
    raw: Cow<'a, str>,
    unix: Cow<'a, str>,
    /// The path with backslashes as separators, as on Windows. On Unix, a backslash is part of a name.
    windows: Option<Cow<'a, str>>,
}

impl<'a> Spellings<'a> {
    pub(crate) fn of(raw: &'a str) -> Self {
        // The length comes first, because normalizing takes time and the model chooses the text.
        if raw.len() > MATCHED_TEXT_BYTES || raw.contains('\0') {
            return Self::Unreadable;
        }
        let Some(written) = Spelling::borrowed(raw) else { return Self::Unreadable };
        let plain = match plain_form(raw) {
            Cow::Owned(plain) if plain != raw => match Spelling::borrowed(&plain).map(Spelling::into_owned) {
                Some(spelling) => Some(spelling),
                // An invisible character may be between the two dots of `..`.
                None => return Self::Unreadable,
            },
            Cow::Owned(_) | Cow::Borrowed(_) => None,
        };
        Self::Readable { written, plain }
    }
}

impl<'a> Spelling<'a> {
    /// Returns none if the text climbs above its root.
    fn borrowed(raw: &'a str) -> Option<Self> {
        let inside = |separators| match normalize(raw, separators) {
            Normalized::Inside(path) => Some(path),
            Normalized::Outside => None,
        };
        let unix = inside(Separators::Slash)?;
        let windows = if raw.contains('\\') { Some(inside(Separators::BothSlashes)?) } else { None };
        Some(Self { raw: Cow::Borrowed(raw), unix, windows })
    }

    fn into_owned(self) -> Spelling<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Spelling { raw: owned(self.raw), unix: owned(self.unix), windows: self.windows.map(owned) }
    }
}
