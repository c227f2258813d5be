//! A word of a command, and whether its text is known.

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    /// The word as the command has it.
    pub(super) raw: String,
    /// Its text, if the shell expands nothing in it.
    pub(super) text: Option<String>,
}

impl Argument {
    /// Creates an argument that nothing expands.
    pub(super) fn literal(text: &str) -> Self {
        Self { raw: text.to_owned(), text: Some(text.to_owned()) }
    }

    /// Creates an argument that only the execution tells.
    pub(super) fn dynamic(raw: &str) -> Self {
        Self { raw: raw.to_owned(), text: None }
    }

    /// Hides the text if the launcher replaces a part of it.
    pub(super) fn replacing(&self, placeholder: &str) -> Self {
        let text = self.text.clone().filter(|text| !text.contains(placeholder));
        Self { raw: self.raw.clone(), text }
    }
}
