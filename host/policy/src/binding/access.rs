//! What a guest may do with a directory.

use std::fmt;

use super::BindingError;

/// What a guest may do with a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Access {
    /// The guest can read the directory and everything in it.
    #[default]
    ReadOnly,
    /// The guest can also change it.
    ReadWrite,
}

impl Access {
    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
        }
    }

    pub(crate) fn read(text: &str) -> Result<Self, BindingError> {
        let known = [Self::ReadOnly, Self::ReadWrite].into_iter().find(|access| access.as_str() == text);
        known.ok_or(BindingError::Access)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_words_are_refused() {
        for text in ["", "readonly", "read-write ", "Read-Only", "rw", "write"] {
            assert_eq!(Access::read(text), Err(BindingError::Access), "{text:?}");
        }
    }
}
