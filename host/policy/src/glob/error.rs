//! The error for an invalid glob pattern, and the maximum sizes of a pattern.

/// Maximum characters of a pattern. A path rarely has more than a quarter of this.
pub const PATTERN_CHARACTERS: usize = 1024;

/// Maximum tokens of a pattern after its braces are expanded. It limits both the memory and the time of a match.
/// Sixteen choices of a path of 64 characters fit.
pub const EXPANDED_TOKENS: usize = 1024;

/// The error for a text that is not a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// The pattern, or one of its choices, is empty.
    #[error("the pattern, or one of its choices, is empty")]
    Empty,
    /// The pattern has more than [`PATTERN_CHARACTERS`] characters.
    #[error("the pattern is longer than {PATTERN_CHARACTERS} characters")]
    TooLong,
    /// The braces expand to more than [`EXPANDED_TOKENS`] tokens.
    #[error("the braces of the pattern expand to too many choices")]
    TooManyChoices,
    /// The pattern contains a control character.
    #[error("the pattern contains a control character")]
    ControlCharacter,
    /// `**` is not a whole segment.
    #[error("`**` must be a whole segment")]
    DeepBesideText,
    /// A `[` without its `]`.
    #[error("a character class is not closed")]
    UnclosedClass,
    /// `[]` or `[!]`.
    #[error("a character class is empty")]
    EmptyClass,
    /// A range such as `[z-a]`.
    #[error("a range in a character class is reversed")]
    ReversedRange,
    /// A class such as `[/]`, which could never match.
    #[error("a character class contains `/`, which no class matches")]
    SlashInClass,
    /// A class such as `[^a]`, which other pattern languages read as a negation.
    #[error("a character class starts with `^`")]
    CaretInClass,
    /// A `{` without its `}`.
    #[error("a brace is not closed")]
    UnclosedBrace,
    /// A `}` or `]` without its opening.
    #[error("a `}}` or `]` has no opening bracket")]
    Unopened,
    /// Braces without a comma, such as `{a}`.
    #[error("braces contain only one choice")]
    SingleChoice,
    /// A backslash at the end.
    #[error("a backslash at the end escapes nothing")]
    TrailingBackslash,
}

impl GlobError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Empty => "write `**` to match everything, or remove the entry",
            Self::TooLong | Self::TooManyChoices => "write several rules, or a list of patterns",
            Self::ControlCharacter => "write `?` in its place",
            Self::DeepBesideText => "put `**` alone between slashes, or write `*`",
            Self::UnclosedClass => "close it with `]`, or write `\\[` for the character itself",
            Self::EmptyClass => "list characters in it, or write `\\[` for the character itself",
            Self::ReversedRange => "write the lower character first",
            Self::SlashInClass => "remove the `/`",
            Self::CaretInClass => "write `[!...]` for a negation, or `\\^` for the character itself",
            Self::UnclosedBrace => "close it with `}`, or write `\\{` for the character itself",
            Self::Unopened => "write a backslash before it for the character itself",
            Self::SingleChoice => "write `{a,b}`, or a backslash before each brace for the character itself",
            Self::TrailingBackslash => "write `\\\\` for a backslash itself",
        }
    }
}
