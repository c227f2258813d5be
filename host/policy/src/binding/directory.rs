//! What a policy binds to a directory key.

use std::fmt;

use super::{BindingError, PATH_BYTES};
use crate::pointer::Pointer;

/// A directory of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryBinding {
    /// Its path; the host resolves a relative one against the directory of the policy.
    pub path: String,
    /// What a guest may do with it.
    pub access: Access,
    /// The argument whose path is all that a call may touch.
    pub narrow: Option<Pointer>,
}

/// What a guest may do with a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Access {
    /// Look at it and at all that is in it.
    #[default]
    ReadOnly,
    /// Change it, too.
    ReadWrite,
}

impl Access {
    /// The word that policies use.
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

pub(crate) fn read_path(text: &str) -> Result<String, BindingError> {
    let sound = !text.is_empty() && text.len() <= PATH_BYTES && !text.chars().any(char::is_control);
    if sound { Ok(text.to_owned()) } else { Err(BindingError::Path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_parts_of_a_directory_are_refused() {
        for text in ["", "readonly", "read-write ", "Read-Only", "rw", "write"] {
            assert_eq!(Access::read(text), Err(BindingError::Access), "{text:?}");
        }
        for text in ["", "a\0b", "a\nb", &"a".repeat(PATH_BYTES + 1)] {
            assert_eq!(read_path(text), Err(BindingError::Path), "{text:?}");
        }
    }
}
