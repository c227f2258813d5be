//! A word of a command, and what is known of its text.

/// How many words the shell makes of one word. A later value leaves more open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordCount {
    /// One word.
    #[default]
    One,
    /// Any number of words with the same start, as from a pattern.
    Similar,
    /// Any number of any words, as from `$x`.
    Any,
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    /// The word as the command has it. It is only for messages, because a quote hides its text from a comparison.
    pub(super) raw: String,
    /// Its text, if the shell expands nothing in it.
    pub(super) text: Option<String>,
    /// Its text up to the first expansion.
    pub(super) start: String,
    pub(super) count: WordCount,
    /// Whether it is an array in parentheses, and no text that the shell could read as one.
    pub(super) is_array: bool,
}

impl Argument {
    /// Creates an argument that nothing expands.
    pub(super) fn literal(text: &str) -> Self {
        let (raw, text, start) = (text.to_owned(), Some(text.to_owned()), text.to_owned());
        Self { raw, text, start, count: WordCount::One, is_array: false }
    }

    /// Creates the argument of a process substitution: an absolute path.
    pub(super) fn process_substitution() -> Self {
        Self { start: "/".to_owned(), count: WordCount::One, ..Self::unknown("<(…)") }
    }

    /// Creates arguments that only the execution tells.
    pub(super) fn unknown(raw: &str) -> Self {
        Self { raw: raw.to_owned(), text: None, start: String::new(), count: WordCount::Any, is_array: false }
    }

    /// Makes it one word, because the shell does not split it here.
    pub(super) fn unsplit(self) -> Self {
        Self { count: WordCount::One, ..self }
    }

    /// Hides the text that the launcher replaces. A text that is only the placeholder becomes `count` words.
    pub(super) fn replacing(&self, placeholder: &str, count: WordCount) -> Self {
        let Some(index) = self.start.find(placeholder) else { return self.clone() };
        let count = if self.text.as_deref() == Some(placeholder) { count } else { self.count };
        Self {
            raw: self.raw.clone(),
            text: None,
            start: self.start[..index].to_owned(),
            count,
            is_array: self.is_array,
        }
    }

    /// Returns whether the text is, or can become, one of these words.
    pub(super) fn can_be(&self, words: &[&str]) -> bool {
        match &self.text {
            Some(text) => words.contains(&text.as_str()),
            None => self.count == WordCount::Any || words.iter().any(|word| word.starts_with(&self.start)),
        }
    }

    /// Returns whether an expansion can make it an option.
    pub(super) fn can_be_option(&self) -> bool {
        self.text.is_none() && (self.start.is_empty() || self.start.starts_with('-'))
    }

    /// Returns the variable that the word names, alone or before `=`, `+=` or an index.
    pub(super) fn variable(&self) -> Option<&str> {
        match self.start.split_once(['=', '+', '[']) {
            Some((name, _)) if self.count != WordCount::Any => Some(name),
            _ => self.text.as_deref(),
        }
    }
}
